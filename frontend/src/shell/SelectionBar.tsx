import { Square, X } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import { ApiError } from "@/api/problem";
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
  const [progress, setProgress] = useState<Progress>();
  const stop = useRef(false);
  const watch: Watch = {
    at: setProgress,
    isStopped: () => stop.current,
    begin: () => {
      stop.current = false;
    },
  };
  const make = ({ each, said }: Act) =>
    change.mutate(
      all(chosen.map(each), said, watch, (processed) => selection.drop(chosen.slice(0, processed))),
    );
  const counted = progress
    ? `${count(progress.done)} of ${count(progress.of)}`
    : `${count(chosen.length)} selected`;
  // What is told must be there before it changes.
  const told = (
    <p role="status" className="sr-only">
      {chosen.length > 0 && !progress && counted}
    </p>
  );
  if (chosen.length === 0 && !progress) return told;
  return (
    <>
      {told}
      <div
        role="group"
        aria-label="With those selected"
        className="sticky top-2 z-20 mb-2 flex flex-wrap items-center gap-2 rounded-lg border bg-raised px-3 py-2 shadow-raised"
      >
        <span className="mr-1 text-sm font-medium" aria-hidden={!progress}>
          {counted}
        </span>
        {acts.map((one) => (
          <Button key={one.label} small busy={change.isPending} onClick={() => make(one)}>
            {one.icon} {one.label}
          </Button>
        ))}
        <span className="flex-1" />
        {progress ? (
          <Button
            small
            onClick={() => {
              stop.current = true;
            }}
          >
            <Square /> Stop
          </Button>
        ) : (
          <>
            {chosen.length < ids.length && (
              <Button small kind="quiet" onClick={() => selection.choose(ids)}>
                Select all {count(ids.length)} shown
              </Button>
            )}
            <Button small kind="quiet" onClick={selection.clear}>
              <X /> Clear
            </Button>
          </>
        )}
      </div>
    </>
  );
}

interface Progress {
  done: number;
  of: number;
}

/** How a long change is followed, and stopped between two of its parts. */
interface Watch {
  begin: () => void;
  at: (progress: Progress | undefined) => void;
  isStopped: () => boolean;
}

/**
 * Several changes as one: says how many were refused and why; its undo takes back the others. It
 * stops when told to, and where the next would fail like this one. `onEnd` is told how many, from
 * the first on, were answered.
 */
function all(
  changes: readonly Change[],
  said: (count: number) => string,
  watch: Watch,
  onEnd?: (processed: number) => void,
): Change {
  return async () => {
    const undos: Change[] = [];
    const refusals: unknown[] = [];
    let processed = 0;
    let cause: Error | undefined;
    watch.begin();
    for (const change of changes) {
      if (watch.isStopped()) break;
      watch.at({ done: processed, of: changes.length });
      try {
        const { undo } = await change();
        if (undo) undos.push(undo);
      } catch (error) {
        if (error instanceof ApiError && (error.isAway || error.status === 401)) {
          cause = error;
          break;
        }
        refusals.push(error);
      }
      processed += 1;
    }
    watch.at(undefined);
    const done = processed - refusals.length;
    const [refusal] = refusals;
    if (done === 0) throw cause ?? refusal;
    onEnd?.(processed);
    const refused =
      refusal === undefined
        ? ""
        : ` ${count(refusals.length)} refused: ${refusal instanceof Error ? refusal.message : String(refusal)}`;
    const left = changes.length - processed;
    const stopped =
      left > 0 ? ` Stopped, ${count(left)} left.${cause ? ` ${cause.message}` : ""}` : "";
    return {
      said: said(done) + refused + stopped,
      ...(undos.length > 0 && {
        undo: all(undos.reverse(), (taken) => `${count(taken)} taken back.`, watch),
      }),
    };
  };
}
