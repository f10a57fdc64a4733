import clsx from "clsx";
import type { Block } from "@/pages/playground/queries";
import { Card } from "@/ui/Card";
import { CopyButton } from "@/ui/CopyButton";
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
