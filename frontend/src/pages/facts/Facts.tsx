import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Archive, Check, Hourglass, Plus, Quote, RotateCcw, Trash2 } from "lucide-react";
import { lazy, Suspense, useCallback, useMemo } from "react";
import { arriving } from "@/api/arriving";
import { accept, confirm, forget, restore } from "@/memory/changes";
import { FactFilters, FactOrder } from "@/pages/facts/FactFilters";
import { FACT_COLUMNS } from "@/pages/facts/columns";
import { factPages, type ListedFact } from "@/pages/facts/queries";
import { SHOWN, SORTS, type FactsSearch } from "@/pages/facts/route";
import { isFiltered, own } from "@/shell/filters";
import { LookBack } from "@/shell/LookBack";
import { keptPast, usePast } from "@/shell/past";
import { SavedViews } from "@/shell/SavedViews";
import { useSelection } from "@/shell/selection";
import { SelectionBar, type Act } from "@/shell/SelectionBar";
import { Button } from "@/ui/Button";
import { Code, EmptyState, NoneFits } from "@/ui/EmptyState";
import { lengthOf, plural } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { Table } from "@/ui/Table";
import { Tabs } from "@/ui/Tabs";

const NewFact = lazy(arriving(() => import("@/memory/NewFact")));

const route = getRouteApi("/memory/facts");

const TABS = [
  { name: "active", label: "Current" },
  { name: "fading", label: "Fading" },
  { name: "waiting", label: "Waiting" },
  { name: "archive", label: "Archive" },
] as const satisfies readonly { name: (typeof SHOWN)[number]; label: string }[];

const CONFIRM: Act = {
  label: "Confirm",
  icon: <Check />,
  said: (many) => `${plural(many, "fact")} confirmed.`,
  each: (id) => confirm("fact", id),
};
const ACCEPT: Act = {
  label: "Accept",
  icon: <Check />,
  said: (many) => `${plural(many, "fact")} accepted: agents get them from now on.`,
  each: accept,
};
const FORGET: Act = {
  label: "Forget",
  icon: <Trash2 />,
  said: (many) => `${plural(many, "fact")} forgotten.`,
  each: (id) => forget("fact", id),
};
const RESTORE: Act = {
  label: "Restore",
  icon: <RotateCcw />,
  said: (many) => `${plural(many, "fact")} restored.`,
  each: (id) => restore("fact", id),
};
const ACTS: Record<(typeof SHOWN)[number], readonly Act[]> = {
  active: [CONFIRM, FORGET],
  fading: [CONFIRM, FORGET],
  waiting: [ACCEPT, FORGET],
  archive: [RESTORE],
};

export default function Facts() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { open } = search;
  const { show = "active", add, ...filters } = own(search);
  const past = usePast();
  const change = (part: Partial<FactsSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  const closeForm = () =>
    void navigate({
      search: (now) => ({ ...now, add: undefined }),
      replace: true,
      resetScroll: false,
      ignoreBlocker: true, // what was typed there is saved, or was given up
    });
  // A tab is a view of its own: Back leads to the one before.
  const turnTo = (show: FactsSearch["show"]) =>
    void navigate({ search: (now) => ({ ...now, show }), resetScroll: false });
  const clear = () => void navigate({ search: (now) => ({ ...keptPast(now), show }) });
  const look = useCallback(
    (fact: ListedFact) =>
      void navigate({ search: (now) => ({ ...now, open: `fact:${fact.id}` }), resetScroll: false }),
    [navigate],
  );

  const { data, isPlaceholderData, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery(factPages({ show, ...filters }, past));
  const rows = useMemo(() => data?.pages.flatMap((one) => one.items), [data]);
  const selection = useSelection(JSON.stringify({ show, ...filters }));
  // Where a list is too long to count, each part knows more of it.
  const known = data?.pages.at(-1);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  return (
    <Page
      title="Facts"
      lead="What your agents hold to be true, where it came from, and how sure they are."
      actions={
        <>
          <SavedViews page="facts" search={{ show: search.show, ...filters }} />
          <LookBack />
          {!past && (
            <Button onClick={() => change({ add: "yes" })}>
              <Plus /> Add a fact
            </Button>
          )}
        </>
      }
    >
      <Tabs
        label="Which facts"
        value={show}
        tabs={TABS}
        onChange={(name) => turnTo(name === "active" ? undefined : name)}
      >
        <FactFilters search={filters} onChange={change} />
        <div className="mb-2 flex items-center justify-between">
          <p className="text-sm text-ink-3" role="status">
            {known && lengthOf(known, "fact")}
          </p>
          <FactOrder search={filters} onChange={change} />
        </div>
        {rows && !past && (
          <SelectionBar selection={selection} ids={rows.map((one) => one.id)} acts={ACTS[show]} />
        )}
        {!rows ? (
          <SkeletonRows rows={12} className="h-11" />
        ) : rows.length === 0 ? (
          <Nothing show={show} filtered={isFiltered(filters)} onClear={clear} />
        ) : (
          <Table
            label="Facts"
            outdated={isPlaceholderData}
            columns={FACT_COLUMNS}
            rows={rows}
            rowKey={(one) => one.id}
            onOpen={look}
            openKey={open?.startsWith("fact:") ? open.slice("fact:".length) : undefined}
            sort={filters.sort}
            // Pressed again, the order is the usual one.
            onSort={(sort) =>
              change({ sort: SORTS.find((one) => one === sort && one !== filters.sort) })
            }
            onEnd={more}
            choice={past ? undefined : { ...selection, name: nameOf }}
            total={known?.total_is_exact ? known.total : undefined}
          />
        )}
      </Tabs>
      <Suspense>{add && <NewFact onClose={closeForm} />}</Suspense>
    </Page>
  );
}

function nameOf({ subject, predicate }: ListedFact): string {
  return `${subject} ${predicate}`;
}

interface NothingProps {
  show: (typeof SHOWN)[number];
  filtered: boolean;
  onClear: () => void;
}

function Nothing({ show, filtered, onClear }: NothingProps) {
  if (filtered) return <NoneFits icon={Quote} what="fact" onClear={onClear} />;
  switch (show) {
    case "active":
      return (
        <EmptyState icon={Quote} title="Nothing is known yet">
          A fact says one thing about one subject: <em>user, favourite colour, dark green</em>.
          Agents store them, and consolidation finds them in episodes. Try{" "}
          <Code>memory-butler store-fact user city &quot;Lives in Porto&quot;</Code>
        </EmptyState>
      );
    case "fading":
      return (
        <EmptyState icon={Hourglass} title="Nothing is fading">
          A fact that nobody confirms loses confidence over time. Below 20&nbsp;% it appears here,
          so that you can confirm it before it expires.
        </EmptyState>
      );
    case "waiting":
      return (
        <EmptyState icon={Hourglass} title="Nothing waits for you">
          Statements in doubt appear here: those that only repeat memory, hardly have evidence, or
          contradict what is trusted more. No agent gets them until you accept them.
        </EmptyState>
      );
    case "archive":
      return (
        <EmptyState icon={Archive} title="Nothing was given up yet">
          Facts that were replaced, expired or forgotten are kept here, with what took their place.
        </EmptyState>
      );
  }
}
