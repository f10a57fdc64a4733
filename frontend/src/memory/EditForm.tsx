import type { FormEvent, ReactNode } from "react";
import { Button } from "@/ui/Button";

interface EditFormProps {
  label: string;
  /** Of `useEditing`, or the like. */
  editing: {
    isChanged: boolean;
    isSaving: boolean;
    refusal?: string | undefined;
    leave: (then: () => void) => void;
    submit: (event: FormEvent) => void;
  };
  onCancel: () => void;
  /** The fields. */
  children: ReactNode;
}

/** The form of an edit: its fields, why it was refused, and the buttons that save it or do not. */
export function EditForm({ label, editing, onCancel, children }: EditFormProps) {
  const { isChanged, isSaving, refusal, leave, submit } = editing;
  return (
    <form aria-label={label} className="space-y-4" onSubmit={submit}>
      {children}
      {refusal && (
        <p role="alert" className="text-sm text-bad-ink">
          {refusal}
        </p>
      )}
      <div className="flex items-center justify-end gap-2">
        <Button disabled={isSaving} onClick={() => leave(onCancel)}>
          Cancel
        </Button>
        <Button type="submit" kind="primary" disabled={!isChanged} busy={isSaving}>
          Save
        </Button>
      </div>
    </form>
  );
}
