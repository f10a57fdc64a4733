import { useMutation } from "@tanstack/react-query";
import { CircleCheck, RotateCw, TriangleAlert } from "lucide-react";
import { replay } from "@/pages/contexts/queries";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { CopyButton } from "@/ui/CopyButton";

/** The block made again from what memory keeps, and whether it is what the session got. */
export function Replay({ id }: { id: string }) {
  const made = useMutation({
    mutationFn: () => replay(id),
    // Told here, where one pressed.
    onError: () => undefined,
  });
  return (
    <Card
      title="What the session got"
      note="Rebuilt from the receipt and from memory as it was then"
      aside={made.data && <CopyButton text={made.data.context} />}
    >
      {made.data ? (
        <>
          <Verdict identical={made.data.identical} />
          <pre className="memory-text mt-3 font-mono text-xs leading-5 whitespace-pre-wrap">
            {made.data.context.trimEnd() || "It was empty: the budget was too small."}
          </pre>
        </>
      ) : (
        <>
          {made.error && (
            <p
              role="alert"
              className="mb-3 rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn-ink"
            >
              {made.error.message}
            </p>
          )}
          <Button busy={made.isPending} onClick={() => made.mutate()}>
            <RotateCw /> Replay
          </Button>
        </>
      )}
    </Card>
  );
}

function Verdict({ identical }: { identical: boolean }) {
  return identical ? (
    <p
      role="status"
      className="flex items-center gap-2 rounded-lg bg-good-soft px-3 py-2 text-sm text-good-ink"
    >
      <CircleCheck className="size-4 shrink-0" aria-hidden /> The same, byte for byte: its SHA-256
      is that of the receipt.
    </p>
  ) : (
    <p
      role="status"
      className="flex items-center gap-2 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad-ink"
    >
      <TriangleAlert className="size-4 shrink-0" aria-hidden /> Not what the session got: its
      SHA-256 differs from that of the receipt.
    </p>
  );
}
