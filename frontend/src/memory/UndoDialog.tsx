import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, type Schemas } from "@/api/client";
import type { Step } from "@/memory/UndoButton";
import { useChange, type Change } from "@/shell/change";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { count, plural, words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type Undo = Schemas["UndoOutput"];

const TONES: Record<Undo["items"][number]["act"], Tone> = {
  removed: "bad",
  restored: "good",
  gone: "neutral",
};
// Enough to know what one is about to do; the answer names up to 200.
const SHOWN = 12;

/** What taking a step back would do, before it is done: it cannot be undone itself. */
export default function UndoDialog(props: { step: Step; onClose: () => void }) {
  const { onClose } = props;
  // Another one where something later must be undone first.
  const [step, setStep] = useState(props.step);
  const change = useChange();
  const { data, error } = useQuery({
    queryKey: ["undo", step],
    queryFn: ({ signal }) => answer(undo(step, true, signal)),
    // A refusal is an answer here, and what is shown must be of now.
    retry: false,
    throwOnError: false,
    gcTime: 0,
    // Once it is undone, it can only be refused.
    enabled: change.isIdle || change.isError,
  });
  const next = () => {
    if (step === props.step) return onClose();
    // What stood in the way is gone.
    change.reset();
    setStep(props.step);
  };
  const isPossible = data && data.blocked_by.length === 0;
  return (
    <Dialog
      onClose={onClose}
      busy={change.isPending}
      title="Undo this change?"
      actions={
        <>
          <Button disabled={change.isPending} onClick={onClose}>
            Cancel
          </Button>
          {isPossible && (
            <Button
              kind="primary"
              busy={change.isPending}
              onClick={() => change.mutate(takeBack(step), next)}
            >
              Undo it
            </Button>
          )}
        </>
      }
    >
      {error ? (
        <p role="alert" className="text-bad-ink first-letter:uppercase">
          {error.message}
        </p>
      ) : data ? (
        <Preview undo={data} onFirst={(event_id) => setStep({ event_id })} />
      ) : (
        <SkeletonRows rows={3} />
      )}
    </Dialog>
  );
}

interface PreviewProps {
  undo: Undo;
  /** Told the event of what must be undone first. */
  onFirst: (eventId: string) => void;
}

function Preview({ undo, onFirst }: PreviewProps) {
  const { at, did, items, blocked_by } = undo;
  const left = items.length - SHOWN;
  return (
    <div className="space-y-4">
      <p className="text-ink-2">
        <TimeAgo at={at} />:{" "}
        {did
          .map((one) => (one.count > 1 ? `${count(one.count)} × ${one.said}` : one.said))
          .join("; ")}
        .
      </p>
      <ul className="space-y-2">
        {items.slice(0, SHOWN).map((one) => (
          <li key={`${one.kind} ${one.id}`} className="flex items-start gap-2">
            <span className="shrink-0">
              <Badge tone={TONES[one.act]}>{one.act}</Badge>
            </span>
            <span className="memory-text line-clamp-2 min-w-0">{one.about ?? one.kind}</span>
          </li>
        ))}
      </ul>
      {left > 0 && <p className="text-sm text-ink-3">And {plural(left, "other")}.</p>}
      {blocked_by.length > 0 ? (
        <div role="alert" className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-sm text-warn-ink">
          <p>Something later depends on it. Undo that first:</p>
          <ul className="mt-1 space-y-1">
            {blocked_by.slice(0, SHOWN).map(({ kind, id, why, event_id }) => (
              <li key={`${id} ${why}`} className="flex items-center justify-between gap-2">
                <span className="memory-text min-w-0">
                  {words(kind)}: {why}
                </span>
                {event_id && (
                  <Button small onClick={() => onFirst(event_id)}>
                    Look at that
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </div>
      ) : (
        <p className="text-sm text-ink-3">
          An undo cannot be undone. To have the change back, make it again.
        </p>
      )}
    </div>
  );
}

function takeBack(step: Step): Change {
  return async () => {
    const { removed, restored } = await answer(undo(step, false));
    return { said: `Undone: ${count(removed)} removed, ${count(restored)} restored.` };
  };
}

function undo(step: Step, dry_run: boolean, signal?: AbortSignal) {
  return api.POST("/api/memory/undo", {
    ...(signal && { signal }),
    body: { ...step, anybody: false, dry_run },
  });
}
