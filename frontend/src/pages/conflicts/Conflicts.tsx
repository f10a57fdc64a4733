import { useInfiniteQuery } from "@tanstack/react-query";
import { Scale } from "lucide-react";
import { settle } from "@/pages/conflicts/changes";
import { conflictPages, type Choice, type Conflict } from "@/pages/conflicts/queries";
import { useChange } from "@/shell/change";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { plural, words } from "@/ui/format";
import { More } from "@/ui/More";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const CHOICES: readonly { choice: Choice; title: string }[] = [
  { choice: "keep_earlier", title: "The earlier one holds" },
  { choice: "keep_later", title: "The later one holds" },
  { choice: "keep_both", title: "Keep both" },
];

/** Facts that say the same or contradict each other, each pair settled with one click. */
export default function Conflicts() {
  const pages = useInfiniteQuery(conflictPages);
  const found = pages.data?.pages.flatMap((one) => one.items);
  const total = pages.data?.pages[0]?.total;
  return (
    <Page
      title="Conflicts"
      lead="Facts that seem to say the same, or cannot both be true. All are kept until you say which holds."
    >
      <p className="mb-3 text-right text-sm text-ink-3" role="status">
        {total !== undefined && plural(total, "conflict")}
      </p>
      {!found ? (
        <SkeletonRows rows={4} className="h-40" />
      ) : found.length === 0 ? (
        <EmptyState icon={Scale} title="Nothing to settle">
          When a fact is stored, it is compared with those that are nearest to it. What repeats or
          contradicts one of another name is shown here.
        </EmptyState>
      ) : (
        <ul className="space-y-4">
          {found.map((one) => (
            <li key={`${one.earlier.id} ${one.later.id}`}>
              <Pair conflict={one} />
            </li>
          ))}
        </ul>
      )}
      <More pages={pages} />
    </Page>
  );
}

function Pair({ conflict }: { conflict: Conflict }) {
  const change = useChange();
  const isContradiction = conflict.kind === "contradiction";
  return (
    <article className="rounded-xl border bg-surface p-5 shadow-card">
      <Badge tone={isContradiction ? "bad" : "warn"}>
        {isContradiction ? "contradiction" : "says the same"}
      </Badge>
      <div className="mt-3 grid gap-4 sm:grid-cols-2">
        <Side title="Earlier" fact={conflict.earlier} source={conflict.earlier_source} />
        <Side title="Later" fact={conflict.later} source={conflict.later_source} />
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        {CHOICES.map(({ choice, title }) => (
          <Button
            key={choice}
            small
            kind={choice === "keep_both" ? "quiet" : "secondary"}
            busy={change.isPending}
            onClick={() => change.mutate(settle(conflict, choice))}
          >
            {title}
          </Button>
        ))}
      </div>
    </article>
  );
}

interface SideProps {
  title: string;
  fact: Conflict["earlier"];
  source: string | null;
}

function Side({ title, fact, source }: SideProps) {
  return (
    <section aria-label={title} className="min-w-0">
      <p className="flex flex-wrap gap-x-2 text-xs text-ink-3">
        <span>{title}</span>
        <TimeAgo at={fact.created_at} />
        <span className="memory-text">
          {fact.subject} · {words(fact.predicate)}
        </span>
      </p>
      <p className="memory-text mt-1 line-clamp-6">
        <MemoryLink kind="fact" id={fact.id}>
          {fact.content}
        </MemoryLink>
      </p>
      {source !== null && (
        <blockquote className="memory-text mt-2 line-clamp-4 border-l-2 pl-3 text-sm text-ink-2">
          {source}
        </blockquote>
      )}
    </section>
  );
}
