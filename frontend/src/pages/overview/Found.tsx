import { useQuery } from "@tanstack/react-query";
import { SearchX } from "lucide-react";
import type { Schemas } from "@/api/client";
import { found } from "@/pages/overview/queries";
import type { OverviewSearch } from "@/pages/overview/route";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { EmptyState } from "@/ui/EmptyState";
import { plural, words } from "@/ui/format";
import { Marked } from "@/ui/Marked";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type Result = Schemas["SearchOutput"]["results"][number];

// Shown where nothing is a good match.
const NEAREST = 3;

/** What a search over everything finds, the best first; what hardly bears on it is folded (DASH-11). */
export function Found({ search }: { search: OverviewSearch }) {
  const { data: results, isPlaceholderData } = useQuery(found(search));
  if (!results) return <SkeletonRows rows={6} className="h-16" />;
  const { good, weak } = results;
  // Without a good one, whoever looks may still know what they see.
  const shown = good.length > 0 ? good : weak.slice(0, NEAREST);
  const folded = good.length > 0 ? weak : weak.slice(NEAREST);
  return (
    <div aria-busy={isPlaceholderData}>
      {good.length === 0 && (
        <EmptyState icon={SearchX} title="No good match">
          Try other words, or fewer filters. What was forgotten or replaced is in the archive of
          facts.
        </EmptyState>
      )}
      {shown.length > 0 && (
        <>
          <p className="mb-2 text-sm text-ink-3" role="status">
            {good.length > 0
              ? `${plural(good.length, "memory", "memories")}, the best first`
              : "The nearest"}
          </p>
          <Results results={shown} query={search.q ?? ""} />
        </>
      )}
      {folded.length > 0 && (
        <details className="mt-4">
          <summary className="cursor-pointer text-sm text-ink-2 hover:text-ink">
            {plural(folded.length, "weaker match", "weaker matches")}
          </summary>
          <div className="mt-2">
            <Results results={folded} query={search.q ?? ""} />
          </div>
        </details>
      )}
    </div>
  );
}

interface ResultsProps {
  results: readonly Result[];
  query: string;
}

function Results({ results, query }: ResultsProps) {
  return (
    <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-card">
      {results.map((one) => (
        <li key={one.id} className="px-5 py-3.5 hover:bg-sunken">
          <ResultLine result={one} query={query} />
        </li>
      ))}
    </ul>
  );
}

function ResultLine({ result, query }: { result: Result; query: string }) {
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
      <div className="min-w-0 flex-1 basis-64">
        <div className="mb-1 flex flex-wrap items-center gap-1.5">
          <Badge tone="accent">{result.memory_type}</Badge>
          <Details result={result} />
        </div>
        <MemoryLink kind={result.memory_type} id={result.id} className="hover:underline">
          <span className="memory-text line-clamp-2">
            <Marked text={result.content} query={query} />
          </span>
        </MemoryLink>
      </div>
      <div className="flex shrink-0 items-center gap-x-3 gap-y-1 text-xs text-ink-3 sm:flex-col sm:items-end">
        {result.memory_type !== "episode" && (
          <ConfidenceBar effective={result.effective_confidence} base={result.confidence} />
        )}
        <TimeAgo at={result.created_at} />
      </div>
    </div>
  );
}

function Details({ result }: { result: Result }) {
  switch (result.memory_type) {
    case "fact":
      return (
        <>
          <Badge>{result.subject}</Badge>
          <span className="text-xs text-ink-3">{words(result.predicate)}</span>
        </>
      );
    case "rule":
      return <Badge>{words(result.maturity)}</Badge>;
    case "episode":
      return <Badge>{result.butler}</Badge>;
  }
}
