import type { Schemas } from "@/api/client";
import { EditConflict } from "@/memory/EditConflict";
import { EditForm } from "@/memory/EditForm";
import { useEditing } from "@/memory/editing";
import { editFact } from "@/pages/facts/changes";
import { changesOf, differences, draftOf } from "@/pages/facts/draft";
import { PERMANENCES } from "@/shell/vocabulary";
import { choices, Field, Input, Select, TextArea } from "@/ui/Field";

type Fact = Schemas["Fact"];

interface FactFormProps {
  /** The fact as it was when editing began. */
  fact: Fact;
  revision: string;
  /** Nothing more to edit; with the fact that holds now where somebody else's was kept. */
  onDone: (keep?: Fact) => void;
}

/** Corrects a fact; of two who do so at once, the second chooses between the versions. */
export function FactForm({ fact, revision, onDone }: FactFormProps) {
  const kind = { draftOf, changesOf, edit: editFact };
  const editing = useEditing(kind, fact, revision, () => onDone());
  const { draft, type, stale, save } = editing;

  if (stale)
    return (
      <EditConflict
        differences={differences(draft, fact, stale.current)}
        busy={editing.isSaving}
        onTheirs={() => onDone(stale.current)}
        onMine={() => save(stale.current, stale.revision)}
      />
    );
  return (
    <EditForm label="Edit this fact" editing={editing} onCancel={() => onDone()}>
      <Field label="Fact" hint="Readable by itself, without the subject beside it.">
        <TextArea
          autoFocus
          required
          value={draft.content}
          onChange={(event) => type({ content: event.target.value })}
        />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Subject">
          <Input
            required
            value={draft.subject}
            onChange={(event) => type({ subject: event.target.value })}
          />
        </Field>
        <Field label="Predicate">
          <Input
            required
            value={draft.predicate}
            onChange={(event) => type({ predicate: event.target.value })}
          />
        </Field>
        <Field label="Permanence">
          <Select
            label="Permanence"
            value={draft.permanence}
            onChange={(permanence) => permanence && type({ permanence })}
            options={choices(PERMANENCES)}
          />
        </Field>
        <Field label="Importance" hint="1 is trivial, 10 is vital.">
          <Input
            type="number"
            required
            min={1}
            max={10}
            step="any"
            value={draft.importance}
            onChange={(event) => type({ importance: event.target.value })}
          />
        </Field>
        <Field label="Scope" hint="“global”, or the one butler that it is for.">
          <Input
            required
            value={draft.scope}
            onChange={(event) => type({ scope: event.target.value })}
          />
        </Field>
        <Field label="Tags" hint="With commas between them.">
          <Input value={draft.tags} onChange={(event) => type({ tags: event.target.value })} />
        </Field>
        <Field label="True since">
          <Input
            type="datetime-local"
            required
            value={draft.valid_from}
            onChange={(event) => type({ valid_from: event.target.value })}
          />
        </Field>
        <Field label="True until" hint="Empty where no end is known.">
          <Input
            type="datetime-local"
            value={draft.valid_until}
            onChange={(event) => type({ valid_until: event.target.value })}
          />
        </Field>
      </div>
    </EditForm>
  );
}
