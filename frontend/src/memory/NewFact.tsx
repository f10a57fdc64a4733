import { useState, type FormEvent } from "react";
import { addFact, type NewFact as Stated } from "@/memory/changes";
import { useChange } from "@/shell/change";
import { PERMANENCE_MEANING, PERMANENCES } from "@/shell/vocabulary";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Input, Select, TextArea } from "@/ui/Field";

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
  const type = (part: Partial<Stated>) => setFact((now) => ({ ...now, ...part }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(addFact(fact), { onSuccess: onClose });
  };
  return (
    <Dialog
      onClose={onClose}
      title="Add a fact"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="new-fact" busy={change.isPending}>
            Add
          </Button>
        </>
      }
    >
      <form id="new-fact" className="space-y-4" onSubmit={submit}>
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
        {refusal && (
          <p role="alert" className="text-sm text-bad-ink">
            {refusal}
          </p>
        )}
      </form>
    </Dialog>
  );
}
