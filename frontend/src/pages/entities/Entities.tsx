import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Contact, Merge } from "lucide-react";
import { useCallback, useMemo } from "react";
import { ENTITY_COLUMNS } from "@/pages/entities/columns";
import { entityPages, type ListedEntity } from "@/pages/entities/queries";
import { ResolvePlayground } from "@/pages/entities/ResolvePlayground";
import { SHOWN, type EntitiesSearch } from "@/pages/entities/route";
import { LookBack } from "@/shell/LookBack";
import { usePast } from "@/shell/past";
import { ENTITY_TYPES } from "@/shell/vocabulary";
import { Button } from "@/ui/Button";
import { Code, EmptyState } from "@/ui/EmptyState";
import { choices, SearchBox, Select } from "@/ui/Field";
import { plural } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { Table } from "@/ui/Table";
import { Tabs } from "@/ui/Tabs";

const route = getRouteApi("/memory/entities");

const TABS = [
  { name: "known", label: "Known" },
  { name: "merged", label: "Merged away" },
  { name: "resolve", label: "Try a name" },
] as const satisfies readonly { name: (typeof SHOWN)[number]; label: string }[];

/** The people, organisations and places that facts are about. */
export default function Entities() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { show = "known" } = search;
  const change = (part: Partial<EntitiesSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  // A tab is a view of its own: Back leads to the one before.
  const turnTo = (show: EntitiesSearch["show"]) =>
    void navigate({ search: (now) => ({ ...now, show }), resetScroll: false });
  return (
    <Page
      title="Entities"
      lead="The people, organisations and places that facts are about, with all their names."
      actions={<LookBack />}
    >
      <Tabs
        label="Which entities"
        value={show}
        tabs={TABS}
        onChange={(name) => turnTo(name === "known" ? undefined : name)}
      >
        {show === "resolve" ? (
          <ResolvePlayground search={search} onChange={change} />
        ) : (
          <List search={search} onChange={change} />
        )}
      </Tabs>
    </Page>
  );
}

interface ListProps {
  search: EntitiesSearch;
  onChange: (part: Partial<EntitiesSearch>) => void;
}

function List({ search, onChange }: ListProps) {
  const navigate = route.useNavigate();
  const { open } = route.useSearch();
  const { data, isPlaceholderData, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useInfiniteQuery(entityPages(search, usePast()));
  const rows = useMemo(() => data?.pages.flatMap((one) => one.items), [data]);
  const total = data?.pages[0]?.total;
  const look = useCallback(
    (one: ListedEntity) =>
      void navigate({
        search: (now) => ({ ...now, open: `entity:${one.id}` as const }),
        resetScroll: false,
      }),
    [navigate],
  );
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <>
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchBox
          label="Search these entities"
          placeholder="A name or an alias"
          value={search.q ?? ""}
          onChange={(q) => onChange({ q: q || undefined })}
          className="min-w-52 flex-1"
          slash
        />
        <Select
          label="Type"
          any="Any type"
          value={search.entity_type}
          onChange={(entity_type) => onChange({ entity_type })}
          options={choices(ENTITY_TYPES)}
        />
      </div>
      <p className="mb-2 text-sm text-ink-3" role="status">
        {total !== undefined && plural(total, "entity", "entities")}
      </p>
      {!rows ? (
        <SkeletonRows rows={8} className="h-11" />
      ) : rows.length === 0 ? (
        <Nothing
          search={search}
          onClear={() => onChange({ q: undefined, entity_type: undefined })}
        />
      ) : (
        <Table
          label="Entities"
          outdated={isPlaceholderData}
          columns={ENTITY_COLUMNS}
          rows={rows}
          rowKey={(one) => one.id}
          onOpen={look}
          openKey={open?.startsWith("entity:") ? open.slice("entity:".length) : undefined}
          onEnd={more}
          total={total}
        />
      )}
    </>
  );
}

function Nothing({ search, onClear }: { search: EntitiesSearch; onClear: () => void }) {
  if (search.q || search.entity_type)
    return (
      <EmptyState
        icon={Contact}
        title="No entity of that name"
        action={<Button onClick={onClear}>Clear the filters</Button>}
      >
        Names and aliases are searched for the letters that you typed.
      </EmptyState>
    );
  if (search.show === "merged")
    return (
      <EmptyState icon={Merge} title="Nothing was merged yet">
        Two entities that are one and the same can be merged: open one of them. The one that was
        merged away stays here, and says what it became.
      </EmptyState>
    );
  return (
    <EmptyState icon={Contact} title="No entity yet">
      An entity keeps two of the same name apart, and one of many names together. Agents register
      them with <Code>entity_create</Code> before they store facts about somebody.
    </EmptyState>
  );
}
