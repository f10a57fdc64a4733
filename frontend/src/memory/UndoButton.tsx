import { Undo2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { arriving } from "@/api/arriving";
import { Button } from "@/ui/Button";

const UndoDialog = lazy(arriving(() => import("@/memory/UndoDialog")));

/** A step of memory: all that was changed with an event, or all that a consolidation learned. */
export type Step = { event_id: string } | { run_id: string };

/** Shows what taking a step back would do, and does it. `of` names the step aloud. */
export function UndoButton({ step, of }: { step: Step; of: string }) {
  const [asked, setAsked] = useState(false);
  return (
    <>
      <Button
        small
        kind="quiet"
        className="-my-1"
        aria-label={`Undo: ${of}`}
        onClick={() => setAsked(true)}
      >
        <Undo2 /> Undo
      </Button>
      <Suspense>{asked && <UndoDialog step={step} onClose={() => setAsked(false)} />}</Suspense>
    </>
  );
}
