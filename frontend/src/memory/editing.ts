import { useState, type FormEvent } from "react";
import { staleOf, type Stale } from "@/api/problem";
import type { Difference } from "@/memory/EditConflict";
import { useChange, useUnsaved, type Change } from "@/shell/change";

/** How one kind of memory is edited: what the form shows of it, and what is sent. */
interface Kind<Item, Draft, Changes> {
  draftOf: (item: Item) => Draft;
  /** The fields that say something else than the item does; what is left alone is inherited. */
  changesOf: (draft: Draft, item: Item) => Changes;
  edit: (onto: Item, revision: string, changes: Changes) => Change;
}

/**
 * Edits one item, as it was at `revision`. Where somebody else was faster nothing is saved: `stale`
 * has their version, onto which `save` may then put the same changes.
 */
export function useEditing<Item, Draft extends object, Changes extends object>(
  { draftOf, changesOf, edit }: Kind<Item, Draft, Changes>,
  item: Item,
  revision: string,
  onSaved: () => void,
) {
  const [draft, setDraft] = useState(() => draftOf(item));
  const [stale, setStale] = useState<Stale<Item>>();
  const [refusal, setRefusal] = useState<string>();
  const change = useChange((error) => {
    const found = staleOf<Item>(error);
    setStale(found);
    setRefusal(found ? undefined : error.message);
  });
  const changes = changesOf(draft, item);
  const isChanged = Object.keys(changes).length > 0;
  const leave = useUnsaved(isChanged, change.isPending);
  const save = (onto: Item, expected: string) =>
    change.mutate(edit(onto, expected, changes), onSaved);
  return {
    draft,
    type: (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part })),
    isChanged,
    isSaving: change.isPending,
    stale,
    refusal,
    leave,
    save,
    submit: (event: FormEvent) => {
      event.preventDefault();
      if (isChanged) save(item, revision);
    },
  };
}

/** Where their version, mine, or both differ from what I began with. */
export function differencesOf<Draft extends object>(
  names: Record<keyof Draft, string>,
  { mine, began, theirs }: { mine: Draft; began: Draft; theirs: Draft },
  readable: (name: keyof Draft, value: Draft[keyof Draft]) => string = (_, value) => String(value),
): Difference[] {
  return (Object.keys(names) as (keyof Draft)[])
    .filter((name) => mine[name] !== began[name] || theirs[name] !== began[name])
    .map((name) => ({
      name: names[name],
      theirs: readable(name, theirs[name]),
      // What I left alone stays as they have it.
      mine: readable(name, mine[name] === began[name] ? theirs[name] : mine[name]),
    }));
}
