import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useChange, type Change } from "@/shell/change";
import type { Selection } from "@/shell/selection";
import { Button } from "@/ui/Button";
import { count } from "@/ui/format";

/** Something to do with each that is chosen. */
export interface Act {
  label: string;
  icon: ReactNode;
  /** What became of `count` of them, for the toast. */
  said: (count: number) => string;
  each: (id: string) => Change;
}

interface SelectionBarProps {
  selection: Selection;
  /** Of the list, as far as it is loaded. */
  ids: readonly string[];
  acts: readonly Act[];
}

/** What can be done with the chosen rows; it stays in sight while one scrolls. */
export function SelectionBar({ selection, ids, acts }: SelectionBarProps) {
  const change = useChange();
  // What left the list meanwhile is no longer in sight, so nothing is done with it.
  const chosen = ids.filter((id) => selection.ids.has(id));
  if (chosen.length === 0) return null;
  const make = ({ each, said }: Act) =>
    change.mutate(all(chosen.map(each), said), { onSuccess: selection.clear });
  return (
    <div
      role="toolbar"
      aria-label="With those selected"
      className="sticky top-2 z-20 mb-2 flex flex-wrap items-center gap-2 rounded-lg border bg-raised px-3 py-2 shadow-raised"
    >
      <span className="mr-1 text-sm font-medium" role="status">
        {count(chosen.length)} selected
      </span>
      {acts.map((one) => (
        <Button key={one.label} small busy={change.isPending} onClick={() => make(one)}>
          {one.icon} {one.label}
        </Button>
      ))}
      <span className="flex-1" />
      {chosen.length < ids.length && (
        <Button small kind="quiet" onClick={() => selection.choose(ids)}>
          Select all {count(ids.length)} shown
        </Button>
      )}
      <Button small kind="quiet" onClick={selection.clear}>
        <X /> Clear
      </Button>
    </div>
  );
}

/** Several changes as one: says how many were refused and why; its undo takes back the others. */
function all(changes: readonly Change[], said: (count: number) => string): Change {
  return async () => {
    const undos: Change[] = [];
    const refusals: unknown[] = [];
    for (const change of changes) {
      try {
        const { undo } = await change();
        if (undo) undos.push(undo);
      } catch (error) {
        refusals.push(error);
      }
    }
    const done = changes.length - refusals.length;
    if (done === 0) throw refusals[0];
    const [refusal] = refusals;
    const refused =
      refusal === undefined
        ? ""
        : ` ${count(refusals.length)} refused: ${refusal instanceof Error ? refusal.message : String(refusal)}`;
    return {
      said: said(done) + refused,
      ...(undos.length > 0 && {
        undo: all(undos.reverse(), (taken) => `${count(taken)} taken back.`),
      }),
    };
  };
}
