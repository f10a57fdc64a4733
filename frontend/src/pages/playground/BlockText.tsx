import clsx from "clsx";
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import type { Block } from "@/pages/playground/queries";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { count } from "@/ui/format";

// The estimate that the budget is kept by (CTX-05).
const CHARS_PER_TOKEN = 4;

export interface PointedProps {
  block: Block;
  /** The id of the memory that is pointed at. */
  pointed: string | undefined;
  onPoint: (id: string | undefined) => void;
}

/** The block, to the letter. */
export function BlockText({ block, pointed, onPoint }: PointedProps) {
  const tokens = Math.ceil(block.context.length / CHARS_PER_TOKEN);
  return (
    <Card
      title="The block"
      note={`About ${count(tokens)} tokens, ${count(block.included.length)} memories`}
      aside={<CopyButton text={block.context} />}
    >
      {block.context ? (
        <div className="-mx-2 font-mono text-xs leading-5">
          {linesOf(block).map(({ text, id }, index) => (
            <p
              key={index}
              onMouseEnter={() => onPoint(id)}
              onMouseLeave={() => onPoint(undefined)}
              className={clsx(
                "memory-text min-h-5 rounded px-2",
                !id && "text-ink-3",
                id && id === pointed && "bg-accent-soft",
              )}
            >
              {text}
            </p>
          ))}
        </div>
      ) : (
        <p className="text-ink-2">The budget is too small even for the heading.</p>
      )}
    </Card>
  );
}

/** The lines of the block; each memory has one of its own, in the order of `included`. */
function linesOf({ context, included }: Block): { text: string; id: string | undefined }[] {
  let next = 0;
  return context
    .trimEnd()
    .split("\n")
    .map((text) => ({ text, id: text.startsWith("- ") ? included[next++] : undefined }));
}

// Long enough to be seen.
const TOLD_MILLISECONDS = 1_500;

function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    window.setTimeout(() => setCopied(false), TOLD_MILLISECONDS);
  };
  return (
    <Button small kind="quiet" className="-my-1" onClick={() => void copy()} disabled={!text}>
      {copied ? <Check /> : <Copy />} {copied ? "Copied" : "Copy"}
    </Button>
  );
}
