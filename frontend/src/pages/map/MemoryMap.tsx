import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import { useCallback, useDeferredValue, useMemo } from "react";
import { connectionsOf, pathBetween } from "@/pages/map/connections";
import { EntityTable } from "@/pages/map/EntityTable";
import { Legend } from "@/pages/map/Legend";
import { PathForm } from "@/pages/map/PathForm";
import { Picture } from "@/pages/map/Picture";
import { memoryMap, type Mapped } from "@/pages/map/queries";
import { LIMITS, type MapSearch } from "@/pages/map/route";
import { LookBack } from "@/shell/LookBack";
import { usePast } from "@/shell/past";
import { Code, EmptyState } from "@/ui/EmptyState";
import { SearchBox, Select } from "@/ui/Field";
import { count, plural } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

const route = getRouteApi("/memory/map");

/** People, places and things, and which of them stand in the same facts. */
export default function MemoryMap() {
  const search = route.useSearch();
  const { data } = useQuery(memoryMap(search.limit, usePast()));
  return (
    <Page
      title="Map"
      lead="People, organisations and places, joined by the facts that have both. Look back to see what was learned and forgotten."
      actions={<LookBack />}
    >
      {!data ? (
        <SkeletonRows rows={8} className="h-11" />
      ) : data.nodes.length === 0 ? (
        <EmptyState icon={Waypoints} title="No entity yet">
          The map shows whom and what facts are about. Agents register people, places and things
          with <Code>entity_create</Code>; each fact that is about one and names another connects
          the two.
        </EmptyState>
      ) : (
        <Drawn map={data} />
      )}
    </Page>
  );
}

function Drawn({ map }: { map: Mapped }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<MapSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  const open = useCallback(
    (id: string) =>
      void navigate({
        search: (now) => ({ ...now, open: `entity:${id}` as const }),
        resetScroll: false,
      }),
    [navigate],
  );
  // The list is behind the picture by a moment, and does not hold up its frames.
  const listed = useDeferredValue(map);
  const connections = useMemo(() => connectionsOf(listed), [listed]);
  const { from, to } = search;
  const path = useMemo(
    () => (from && to ? pathBetween(connections, from, to) : []),
    [connections, from, to],
  );
  const marked = useMemo(
    () => (from && path.length > 0 ? [from, ...path.map((one) => one.node.id)] : []),
    [from, path],
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <p className="flex-1 text-sm text-ink-3" role="status">
          {lengthSaid(map)}
        </p>
        {map.total > Number(LIMITS[0]) && (
          <Select
            label="How many"
            value={search.limit ?? LIMITS[0]}
            onChange={(limit) => change({ limit: limit === LIMITS[0] ? undefined : limit })}
            options={LIMITS.map((value) => ({ value, label: `Best ${count(Number(value))}` }))}
          />
        )}
      </div>
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,5fr)_minmax(0,4fr)]">
        <div className="min-w-0 xl:sticky xl:top-4">
          <Picture map={map} path={marked} onOpen={open} />
          <Legend />
        </div>
        <div className="min-w-0">
          <PathForm
            map={listed}
            connections={connections}
            ends={{ from, to }}
            path={path}
            onChange={change}
          />
          <SearchBox
            label="Search this map"
            placeholder="Part of a name"
            value={search.q ?? ""}
            onChange={(q) => change({ q: q || undefined })}
            className="mt-5 mb-3"
            slash
          />
          <EntityTable
            map={listed}
            connections={connections}
            q={search.q}
            open={search.open}
            onOpen={open}
          />
        </div>
      </div>
    </>
  );
}

function lengthSaid({ nodes, edges, total, complete }: Mapped): string {
  const entities =
    nodes.length < total
      ? `The ${count(nodes.length)} best connected of ${plural(total, "entity", "entities")}`
      : plural(total, "entity", "entities");
  const said = `${entities}, ${plural(edges.length, "connection")}`;
  return complete ? said : `${said}, from the newest facts`;
}
