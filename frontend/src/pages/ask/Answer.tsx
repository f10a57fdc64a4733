import clsx from "clsx";
import type { Line, Memory } from "@/pages/ask/queries";
import { TrustBadge } from "@/memory/TrustBadge";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { Card } from "@/ui/Card";
import { words } from "@/ui/format";
import { Marked } from "@/ui/Marked";
import { TimeAgo } from "@/ui/TimeAgo";

interface AnswerProps {
  lines: readonly Line[];
  question: string;
}

/** The lines that answer, the best first and large; each leads to its memory and its source. */
export function Answer({ lines, question }: AnswerProps) {
  return (
    <Card title="Answer">
      <ol className="divide-y" aria-label="Lines of the answer">
        {lines.map((line, place) => (
          <li key={line.memory.id} className="py-4 first:pt-0 last:pb-0">
            <Statement memory={line.memory} question={question} large={place === 0} />
            {line.source && <Source source={line.source} question={question} />}
          </li>
        ))}
      </ol>
    </Card>
  );
}

interface OthersProps {
  title: string;
  memories: readonly Memory[];
  question: string;
}

/** What is no line of the answer. */
export function Others({ title, memories, question }: OthersProps) {
  return (
    <Card title={title}>
      <ul className="divide-y">
        {memories.map((one) => (
          <li key={one.id} className="py-3 first:pt-0 last:pb-0">
            <Statement memory={one} question={question} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface StatementProps {
  memory: Memory;
  question: string;
  large?: boolean;
}

function Statement({ memory, question, large = false }: StatementProps) {
  return (
    <>
      <MemoryLink kind={memory.memory_type} id={memory.id} className="hover:underline">
        <span className={clsx("memory-text line-clamp-6", large && "text-lg font-medium")}>
          <Marked text={memory.content} query={question} />
        </span>
      </MemoryLink>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
        <Badge tone="accent">{memory.memory_type}</Badge>
        <About memory={memory} />
        <TrustBadge trust={memory.trust} />
        {memory.memory_type === "episode" ? (
          <TimeAgo at={memory.occurred_at} />
        ) : (
          <ConfidenceBar effective={memory.effective_confidence} base={memory.confidence} />
        )}
      </div>
    </>
  );
}

function About({ memory }: { memory: Memory }) {
  switch (memory.memory_type) {
    case "fact":
      return (
        <span className="memory-text">
          {memory.subject} · {words(memory.predicate)}
        </span>
      );
    case "rule":
      return words(memory.maturity);
    case "episode":
      return memory.butler;
  }
}

/** The words of the episode that a memory was drawn from. */
function Source({ source, question }: { source: NonNullable<Line["source"]>; question: string }) {
  return (
    <blockquote className="mt-2 border-l-2 pl-3 text-sm text-ink-2">
      <span className="memory-text line-clamp-3">
        <Marked text={source.content} query={question} />
      </span>
      <footer className="mt-0.5 text-xs text-ink-3">
        <MemoryLink kind="episode" id={source.id}>
          Its episode
        </MemoryLink>{" "}
        <TimeAgo at={source.occurred_at} />
      </footer>
    </blockquote>
  );
}
