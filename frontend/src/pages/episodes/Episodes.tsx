import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CircleCheck, NotebookText, RotateCcw, Trash2 } from "lucide-react";
import { forget, restore } from "@/memory/changes";
import { EpisodeItem } from "@/memory/EpisodeItem";
import { GAVE_UP } from "@/memory/EpisodeState";
import { NoModel } from "@/memory/NoModel";
import { EpisodeFilters } from "@/pages/episodes/EpisodeFilters";
import { episodePages } from "@/pages/episodes/queries";
import { useRetry } from "@/pages/episodes/retry";
import type { EpisodesSearch, SHOWN } from "@/pages/episodes/route";
import { isFiltered, own } from "@/shell/filters";
import { LookBack } from "@/shell/LookBack";
import { keptPast, usePast } from "@/shell/past";
import { SavedViews } from "@/shell/SavedViews";
import { useSelection } from "@/shell/selection";
import { SelectionBar, type Act } from "@/shell/SelectionBar";
import { Button } from "@/ui/Button";
import { Code, EmptyState, NoneFits } from "@/ui/EmptyState";
import { SelectBox } from "@/ui/Field";
import { lengthOf, plural } from "@/ui/format";
import { More } from "@/ui/More";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { Tabs } from "@/ui/Tabs";

type Shown = (typeof SHOWN)[number];

const TABS: readonly { name: Shown; label: string }[] = [
  { name: "all", label: "All" },
  { name: "pending", label: "Waiting" },
  { name: "consolidated", label: "Consolidated" },
  { name: "failed", label: "Failed" },
  { name: "dead_letter", label: "Dead letters" },
  { name: "expired", label: "Expired" },
];

const FORGET: Act = {
  label: "Forget",
  icon: <Trash2 />,
  said: (many) => `${plural(many, "episode")} forgotten.`,
  each: (id) => forget("episode", id),
};
const RESTORE: Act = {
  label: "Restore",
  icon: <RotateCcw />,
  said: (many) => `${plural(many, "episode")} restored.`,
  each: (id) => restore("episode", id),
};

const route = getRouteApi("/memory/episodes");

/** What happened, in the words of those who were there, and whether it was learned from. */
export default function Episodes() {
  const search = own(route.useSearch());
  const past = usePast();
  const navigate = route.useNavigate();
  const { show = "all", order: _, ...filters } = search;
  const change = (part: Partial<EpisodesSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  // A tab is a view of its own: Back leads to the one before.
  const turnTo = (show: EpisodesSearch["show"]) =>
    void navigate({ search: (now) => ({ ...now, show }), resetScroll: false });
  const pages = useInfiniteQuery(episodePages(search, past));
  const retry = useRetry();
  const episodes = pages.data?.pages.flatMap((one) => one.items);
  const selection = useSelection(JSON.stringify(search));
  // Where a list is too long to count, each part knows more of it.
  const known = pages.data?.pages.at(-1);
  return (
    <Page
      title="Episodes"
      lead="What happened, as agents stored it. Consolidation turns episodes into facts and rules."
      actions={
        <>
          <SavedViews page="episodes" search={search} />
          <LookBack />
        </>
      }
    >
      <Tabs
        label="Which episodes"
        value={show}
        tabs={TABS}
        onChange={(name) => turnTo(name === "all" ? undefined : name)}
      >
        <EpisodeFilters search={search} onChange={change} />
        <div className="mb-2 flex min-h-8 items-center justify-between gap-3">
          <p className="text-sm text-ink-3" role="status">
            {known && lengthOf(known, "episode")}
          </p>
          {GAVE_UP.has(show) && known?.total && !past ? (
            <Button small busy={retry.isPending} onClick={() => retry.mutate(null)}>
              <RotateCcw /> Retry all that failed
            </Button>
          ) : null}
        </div>
        {show === "pending" && known?.total && !past ? <NoModel /> : null}
        {episodes && !past && (
          <SelectionBar
            selection={selection}
            ids={episodes.map((one) => one.id)}
            acts={[show === "expired" ? RESTORE : FORGET]}
          />
        )}
        {!episodes ? (
          <SkeletonRows rows={8} className="h-18" />
        ) : episodes.length === 0 ? (
          <Nothing
            show={show}
            filtered={isFiltered(filters)}
            onClear={() => void navigate({ search: (now) => ({ ...keptPast(now), show }) })}
          />
        ) : (
          <ol
            aria-busy={pages.isPlaceholderData}
            className="divide-y overflow-hidden rounded-xl border bg-surface shadow-card"
          >
            {episodes.map((one) => (
              <EpisodeItem
                key={one.id}
                episode={one}
                box={
                  !past && (
                    <SelectBox
                      label={one.content}
                      checked={selection.ids.has(one.id)}
                      onChange={() => selection.toggle(one.id)}
                    />
                  )
                }
              >
                {GAVE_UP.has(one.consolidation_status) && !past && (
                  <Button small busy={retry.isPending} onClick={() => retry.mutate([one.id])}>
                    <RotateCcw /> Retry
                  </Button>
                )}
              </EpisodeItem>
            ))}
          </ol>
        )}
        <More pages={pages} />
      </Tabs>
    </Page>
  );
}

function Nothing({
  show,
  filtered,
  onClear,
}: {
  show: Shown;
  filtered: boolean;
  onClear: () => void;
}) {
  if (filtered) return <NoneFits icon={NotebookText} what="episode" onClear={onClear} />;
  switch (show) {
    case "all":
      return (
        <EmptyState icon={NotebookText} title="No episode yet">
          An episode is what happened, in the words of the agent that was there. Try{" "}
          <Code>
            memory-butler store-episode &quot;Ana asked for a vegetarian dinner&quot; home
          </Code>
        </EmptyState>
      );
    case "pending":
      return (
        <EmptyState icon={CircleCheck} title="Nothing waits">
          Every episode was learned from. New ones wait here until the next consolidation.
        </EmptyState>
      );
    case "consolidated":
      return (
        <EmptyState icon={NotebookText} title="Nothing was consolidated yet">
          A consolidation asks a language model what the waiting episodes teach. The page of jobs
          says when the next one runs.
        </EmptyState>
      );
    case "failed":
      return (
        <EmptyState icon={CircleCheck} title="Nothing failed">
          An episode on which consolidation failed permanently is kept here until somebody retries
          it.
        </EmptyState>
      );
    case "dead_letter":
      return (
        <EmptyState icon={CircleCheck} title="No dead letters">
          An episode that failed too often is kept here with its last error, until somebody retries
          it.
        </EmptyState>
      );
    case "expired":
      return (
        <EmptyState icon={CircleCheck} title="Nothing expired">
          Episodes last for some days; what was learned from them stays. Expired or forgotten
          episodes can be restored from here until the next cleanup deletes them.
        </EmptyState>
      );
  }
}
