import { Eraser } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { arriving } from "@/api/arriving";
import type { Erased } from "@/memory/EraseDialog";
import { Button } from "@/ui/Button";

// Few ever erase: it comes when it is asked for.
const EraseDialog = lazy(arriving(() => import("@/memory/EraseDialog")));

interface EraseButtonProps {
  target: Erased;
  /** Once it is gone, what showed it closes. */
  onGone: () => void;
}

/** Erasing for good, after a look at what goes and a word that is typed. */
export function EraseButton({ target, onGone }: EraseButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        <Eraser /> Erase…
      </Button>
      {isOpen && (
        <Suspense>
          <EraseDialog target={target} onClose={() => setOpen(false)} onGone={onGone} />
        </Suspense>
      )}
    </>
  );
}
