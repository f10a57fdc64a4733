import { useState, type FormEvent } from "react";
import { unmask } from "@/memory/unmask";
import { useChange } from "@/shell/change";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Input } from "@/ui/Field";

/** Restores what was masked, by the key that an agent or a program was told. */
export default function UnmaskDialog({ onClose }: { onClose: () => void }) {
  const [key, setKey] = useState("");
  const [refusal, setRefusal] = useState<string>();
  const change = useChange((error) => setRefusal(error.message));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(unmask(key), { onSuccess: onClose });
  };
  return (
    <Dialog
      onClose={onClose}
      title="Restore what was masked"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="unmask" busy={change.isPending}>
            Restore
          </Button>
        </>
      }
    >
      <form id="unmask" className="space-y-4" onSubmit={submit}>
        <Field
          label="Key"
          hint="It stands in the answer that said what was masked, and works for an hour."
        >
          <Input
            autoFocus
            required
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        {refusal && (
          <p role="alert" className="text-sm text-bad-ink">
            {refusal}
          </p>
        )}
      </form>
    </Dialog>
  );
}
