import { useState } from "react";
import { addFact, type NewFact as Stated } from "@/memory/changes";
import { useChange, useUnsaved } from "@/shell/change";
import { PERMANENCE_MEANING, PERMANENCES } from "@/shell/vocabulary";
import { Field, Input, Select, TextArea } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";

const LENGTHS = PERMANENCES.map((value) => ({
  value,
  label: `${value}: ${PERMANENCE_MEANING[value]}`,
}));

/** Stores a fact on the word of the person who types it. */
export default function NewFact({ onClose }: { onClose: () => void }) {
  const [fact, setFact] = useState<Stated>({
    subject: "user",
    predicate: "",
    content: "",
    permanence: "standard",
  });
  const [refusal, setRefusal] = useState<string>();
  const change = useChange((error) => setRefusal(error.message));
  const leave = useUnsaved(fact.content !== "", change.isPending);
  const type = (part: Partial<Stated>) => setFact((now) => ({ ...now, ...part }));
  return (
    <FormDialog
      onClose={() => leave(onClose)}
      title="Add a fact"
      submit="Add"
      onSubmit={() => change.mutate(addFact(fact), onClose)}
      busy={change.isPending}
      refusal={refusal}
    >
      <Field label="Fact" hint="A sentence that is clear by itself: “Ana lives in Porto”.">
        <TextArea
          autoFocus
          required
          value={fact.content}
          onChange={(event) => type({ content: event.target.value })}
        />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Subject" hint="Who or what it is about.">
          <Input
            required
            value={fact.subject}
            onChange={(event) => type({ subject: event.target.value })}
          />
        </Field>
        <Field label="Predicate" hint="What it says of the subject: “city”.">
          <Input
            required
            value={fact.predicate}
            onChange={(event) => type({ predicate: event.target.value })}
          />
        </Field>
      </div>
      <Field label="Permanence" hint="How soon it fades where nobody confirms it.">
        <Select
          label="Permanence"
          value={fact.permanence}
          onChange={(permanence) => permanence && type({ permanence })}
          options={LENGTHS}
        />
      </Field>
    </FormDialog>
  );
}
