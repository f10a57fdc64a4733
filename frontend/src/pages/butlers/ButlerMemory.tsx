import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Quote } from "lucide-react";
import { useMemo } from "react";
import { ButlerPage } from "@/pages/butlers/ButlerPage";
import { EpisodeStream } from "@/pages/butlers/EpisodeStream";
import { FactCards } from "@/pages/butlers/FactCards";
import { Playbook } from "@/pages/butlers/Playbook";
import { butlerDetail, butlerFacts } from "@/pages/butlers/queries";
import { FactFilters } from "@/pages/facts/FactFilters";
import type { FactsSearch } from "@/pages/facts/route";
import { isFiltered, own } from "@/shell/filters";
import { Button } from "@/ui/Button";
import { EmptyState, NoneFits } from "@/ui/EmptyState";
import { Select } from "@/ui/Field";
import { lengthOf } from "@/ui/format";
import { Skeleton } from "@/ui/Skeleton";

const route = getRouteApi("/butlers/$butler/memory");

const SHOWN = [
  { value: "fading", label: "Fading facts" },
  { value: "archive", label: "Archive" },
] as const;

/** All that a butler can draw on: what it and all others share, and what is its own (DASH-01). */
export default function ButlerMemory() {
  const { butler } = route.useParams();
  // A name that nobody has is a page that helps, and not an empty memory.
  useQuery(butlerDetail(butler));
  return (
    <ButlerPage
      name={butler}
      lead="What this butler knows: what all butlers share, and what is its own."
    >
      <div className="grid items-start gap-x-6 gap-y-8 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <FactsPanel butler={butler} />
        <Playbook butler={butler} />
      </div>
      <EpisodeStream butler={butler} />
    </ButlerPage>
  );
}

function FactsPanel({ butler }: { butler: string }) {
  const { sort: _, ...search } = own(route.useSearch());
  const navigate = route.useNavigate();
  const { show, ...filters } = search;
  const change = (part: Partial<FactsSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    butlerFacts(butler, search),
  );
  const facts = useMemo(() => data?.pages.flatMap((one) => one.items), [data]);
  // Where a list is too long to count, each part knows more of it.
  const known = data?.pages.at(-1);
  const narrowed = isFiltered(filters);
  return (
    <section aria-label="Facts" className="min-w-0">
      <FactFilters search={filters} onChange={change} />
      <div className="mb-3 flex items-center justify-between gap-3">
        <p className="text-sm text-ink-3" role="status">
          {known && lengthOf(known, "fact")}
        </p>
        <Select
          label="Which facts"
          any="Current facts"
          value={SHOWN.find((one) => one.value === show)?.value}
          onChange={(chosen) => change({ show: chosen })}
          options={SHOWN}
        />
      </div>
      {!facts ? (
        <div role="status" aria-label="Loading" className="grid gap-3 sm:grid-cols-2">
          {Array.from({ length: 6 }, (_, index) => (
            <Skeleton key={index} className="h-32 w-full" />
          ))}
        </div>
      ) : facts.length === 0 ? (
        narrowed ? (
          <NoneFits icon={Quote} what="fact" onClear={() => void navigate({ search: { show } })} />
        ) : (
          <EmptyState icon={Quote} title="No such fact">
            A butler sees the facts that all share, and those in a scope of its own name.
          </EmptyState>
        )
      ) : (
        <FactCards facts={facts} />
      )}
      {hasNextPage && (
        <Button className="mt-4" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more facts
        </Button>
      )}
    </section>
  );
}
