import clsx from "clsx";
import { useMemo } from "react";
import type { Connections } from "@/pages/map/connections";
import type { Mapped, MapNode } from "@/pages/map/queries";
import { trusted } from "@/pages/map/trusts";
import { count, percent, plural } from "@/ui/format";
import { Table, type Column } from "@/ui/Table";

interface EntityTableProps {
  map: Mapped;
  connections: Connections;
  /** Part of a name; all where there is none. */
  q: string | undefined;
  /** The drawer that is open. */
  open: string | undefined;
  onOpen: (id: string) => void;
}

// Of the neighbours, by name; how many there are besides is said.
const NAMED = 3;

/** What the map shows, as a list: the best connected first. */
export function EntityTable({ map, connections, q, open, onOpen }: EntityTableProps) {
  const columns = useMemo(() => columnsOf(connections), [connections]);
  const wanted = q?.toLowerCase();
  const rows = useMemo(
    () => (wanted ? map.nodes.filter((one) => one.name.toLowerCase().includes(wanted)) : map.nodes),
    [map, wanted],
  );
  if (rows.length === 0) return <p className="text-ink-2">No entity on this map has that name.</p>;
  return (
    <Table
      label="Entities on the map"
      columns={columns}
      rows={rows}
      rowKey={(one) => one.id}
      onOpen={(one) => onOpen(one.id)}
      openKey={open?.startsWith("entity:") ? open.slice("entity:".length) : undefined}
    />
  );
}

function columnsOf(connections: Connections): readonly Column<MapNode>[] {
  return [
    {
      key: "name",
      title: "Entity",
      width: "minmax(0,1fr)",
      cell: (one) => (
        <div className="min-w-0">
          <p className="memory-text line-clamp-2 font-medium">{one.name}</p>
          <p className="mt-0.5 flex items-center gap-1.5 text-xs text-ink-2">
            <span aria-hidden className={clsx("size-2 shrink-0 rounded-full", trusted(one).fill)} />
            {one.entity_type}, {trusted(one).label}
          </p>
          <p className="memory-text line-clamp-2 text-xs text-ink-3">
            {connectionsSaid(connections.get(one.id)?.map((step) => step.node.name) ?? [])}
            {one.named > 0 && `, named in ${plural(one.named, "other fact")}`}
          </p>
        </div>
      ),
    },
    {
      key: "facts",
      title: "Facts",
      width: "2.75rem",
      align: "right",
      cell: (one) => count(one.facts),
    },
    {
      key: "confidence",
      title: "Confidence",
      width: "4.75rem",
      align: "right",
      cell: (one) => (one.confidence === null ? "–" : percent(one.confidence)),
    },
  ];
}

function connectionsSaid(names: readonly string[]): string {
  if (names.length === 0) return "no connection";
  const others = names.length - NAMED;
  const named = names.slice(0, NAMED).join(", ");
  return others > 0 ? `with ${named} and ${plural(others, "other")}` : `with ${named}`;
}
