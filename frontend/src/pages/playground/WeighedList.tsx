import clsx from "clsx";
import { CircleMinus } from "lucide-react";
import { ScoreBar, ScoreLegend } from "@/memory/ScoreBar";
import type { PointedProps } from "@/pages/playground/BlockText";
import type { Weighed } from "@/pages/playground/queries";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { words } from "@/ui/format";

interface WeighedListProps extends PointedProps {
  onWithout: (id: string) => void;
}

/** What was weighed for the block, with every part of each score; then what found no room. */
export function WeighedList({ block, pointed, onPoint, onWithout }: WeighedListProps) {
  const weighed = block.considered ?? [];
  const inside = weighed.slice(0, block.included.length);
  const missed = weighed.slice(block.included.length);
  // One scale for all bars, so that their lengths compare.
  const most = Math.max(...weighed.map((one) => one.scores?.score ?? 0), Number.EPSILON);
  const line = (one: Weighed, _: number, all: readonly Weighed[]) => (
    <li
      key={one.id}
      onMouseEnter={() => onPoint(one.id)}
      onMouseLeave={() => onPoint(undefined)}
      className={clsx("-mx-2 rounded-md px-2 py-2.5", one.id === pointed && "bg-accent-soft")}
    >
      <Line
        weighed={one}
        most={most}
        onWithout={all === inside ? () => onWithout(one.id) : undefined}
      />
    </li>
  );
  return (
    <div className="space-y-4">
      <Card title="Why each line is there" note={<ScoreLegend />}>
        {inside.length === 0 ? (
          <p className="text-ink-2">
            {missed.length === 0
              ? "Nothing in this scope is certain enough to be recalled for this prompt."
              : "No line had room in this budget."}
          </p>
        ) : (
          <ol className="divide-y">{inside.map(line)}</ol>
        )}
      </Card>
      {missed.length > 0 && (
        <Card title="What just missed it" note="Recalled, but the budget had no room for it">
          <ol className="divide-y">{missed.map(line)}</ol>
        </Card>
      )}
    </div>
  );
}

interface LineProps {
  weighed: Weighed;
  most: number;
  /** Of a line of the block. */
  onWithout: (() => void) | undefined;
}

function Line({ weighed, most, onWithout }: LineProps) {
  return (
    <>
      <div className="mb-1 flex flex-wrap items-center gap-1.5">
        <Badge tone="accent">{weighed.memory_type}</Badge>
        {weighed.memory_type === "fact" && (
          <>
            <Badge>{weighed.subject}</Badge>
            <span className="text-xs text-ink-3">{words(weighed.predicate)}</span>
          </>
        )}
        {weighed.memory_type === "rule" && <Badge>{words(weighed.maturity)}</Badge>}
        {onWithout && (
          <Button small kind="quiet" className="-my-1 ml-auto" onClick={onWithout}>
            <CircleMinus /> Preview without this
          </Button>
        )}
      </div>
      <MemoryLink kind={weighed.memory_type} id={weighed.id} className="hover:underline">
        <span className="memory-text line-clamp-2">{weighed.content}</span>
      </MemoryLink>
      <ScoreBar scores={weighed.scores} most={most} />
    </>
  );
}
