import { useState, type FormEvent } from "react";
import { EditForm } from "@/memory/EditForm";
import { editEntity } from "@/pages/entities/changes";
import type { Entity } from "@/pages/entities/queries";
import { useChange, useUnsaved } from "@/shell/change";
import { Field, Input, TextArea } from "@/ui/Field";

interface EntityFormProps {
  entity: Entity;
  onDone: () => void;
}

/** Another name for an entity, or other aliases. */
export function EntityForm({ entity, onDone }: EntityFormProps) {
  const [name, setName] = useState(entity.canonical_name);
  const [typed, setTyped] = useState(entity.aliases.join("\n"));
  const [refusal, setRefusal] = useState<string>();
  const change = useChange((error) => setRefusal(error.message));
  const aliases = typed
    .split("\n")
    .map((one) => one.trim())
    .filter(Boolean);
  const changes = {
    ...(name !== entity.canonical_name && { canonical_name: name }),
    ...(aliases.join("\n") !== entity.aliases.join("\n") && { aliases }),
  };
  const isChanged = Object.keys(changes).length > 0;
  const leave = useUnsaved(isChanged, change.isPending);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) change.mutate(editEntity(entity, changes), onDone);
  };
  return (
    <EditForm
      label="Edit this entity"
      editing={{ isChanged, isSaving: change.isPending, leave, submit }}
      onCancel={onDone}
    >
      <Field label="Name" hint="The full, usual one." error={refusal}>
        <Input autoFocus required value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Other names" hint="One a line.">
        <TextArea value={typed} onChange={(event) => setTyped(event.target.value)} />
      </Field>
    </EditForm>
  );
}
