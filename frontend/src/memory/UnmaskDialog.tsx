import { useState } from "react";
import { unmask } from "@/memory/unmask";
import { useChange, useUnsaved } from "@/shell/change";
import { Field, Input } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";

/** Restores what was masked, by the key that an agent or a program was told. */
export default function UnmaskDialog({ onClose }: { onClose: () => void }) {
  const [key, setKey] = useState("");
  const [refusal, setRefusal] = useState<string>();
  const change = useChange((error) => setRefusal(error.message));
  const leave = useUnsaved(key !== "", change.isPending);
  return (
    <FormDialog
      onClose={() => leave(onClose)}
      title="Restore what was masked"
      submit="Restore"
      onSubmit={() => change.mutate(unmask(key), onClose)}
      busy={change.isPending}
      refusal={refusal}
    >
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
    </FormDialog>
  );
}
