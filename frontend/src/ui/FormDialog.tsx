import { useId, type ReactNode } from "react";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";

interface FormDialogProps {
  onClose: () => void;
  title: string;
  /** What the main button does: "Add". */
  submit: string;
  onSubmit: () => void;
  /** The request is under way. */
  busy: boolean;
  /** Something is missing that the browser does not ask for. */
  disabled?: boolean;
  /** Why the server refused what was sent. */
  refusal?: string | undefined;
  /** The fields. */
  children: ReactNode;
}

/** A few fields, a button that sends them and one that does not; a refusal is told below the fields. */
export function FormDialog(props: FormDialogProps) {
  const { onClose, title, submit, onSubmit, busy, disabled, refusal, children } = props;
  const form = useId();
  return (
    <Dialog
      onClose={onClose}
      title={title}
      busy={busy}
      holds="typed"
      actions={
        <>
          <Button disabled={busy} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" form={form} busy={busy} disabled={disabled}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        {refusal && (
          <p role="alert" className="text-sm text-bad-ink first-letter:uppercase">
            {refusal}
          </p>
        )}
      </form>
    </Dialog>
  );
}
