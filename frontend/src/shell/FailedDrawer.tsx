import { ApiError } from "@/api/problem";
import { useNewAttempt } from "@/shell/ErrorPage";
import type { OpenedKind } from "@/shell/opened";
import { openPalette } from "@/shell/palette";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";

interface FailedDrawerProps {
  kind: OpenedKind;
  error: unknown;
  onClose: () => void;
}

/** In place of what could not be shown; the page behind it stays. */
export default function FailedDrawer({ kind, error, onClose }: FailedDrawerProps) {
  useNewAttempt();
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <Drawer
      kicker={kind[0]!.toUpperCase() + kind.slice(1)}
      title={isMissing ? `There is no such ${kind}` : "This could not be shown"}
      onClose={onClose}
    >
      <p className="memory-text text-ink-2 first-letter:uppercase">
        {error instanceof Error ? error.message : String(error)}
      </p>
      {isMissing && (
        <>
          <p className="mt-3 text-ink-2">
            It may have expired and been cleaned up, or been merged into another, or the address has
            a typing error.
          </p>
          <Button className="mt-4" onClick={openPalette}>
            Search for it
          </Button>
        </>
      )}
    </Drawer>
  );
}
