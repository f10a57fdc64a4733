import { Building2, MapPin, Shapes, UserRound, type LucideIcon } from "lucide-react";
import type { ListedEntity } from "@/pages/entities/queries";
import type { EntityType } from "@/shell/vocabulary";
import { count } from "@/ui/format";
import type { Column } from "@/ui/Table";
import { TimeAgo } from "@/ui/TimeAgo";

const ICONS: Record<EntityType, LucideIcon> = {
  person: UserRound,
  organization: Building2,
  place: MapPin,
  other: Shapes,
};

export const ENTITY_COLUMNS: readonly Column<ListedEntity>[] = [
  {
    key: "name",
    title: "Name",
    width: "minmax(0,1fr)",
    cell: (one) => (
      <div className="flex min-w-0 items-center gap-3">
        <EntityIcon type={one.entity_type} />
        <div className="min-w-0">
          <p className="memory-text line-clamp-1 font-medium">{one.canonical_name}</p>
          {one.aliases.length > 0 && (
            <p className="memory-text line-clamp-1 text-xs text-ink-3">
              also {one.aliases.join(", ")}
            </p>
          )}
        </div>
      </div>
    ),
  },
  {
    key: "type",
    title: "Type",
    width: "8rem",
    wide: true,
    cell: (one) => <span className="text-sm text-ink-2">{one.entity_type}</span>,
  },
  {
    key: "facts",
    title: "Facts",
    width: "4rem",
    align: "right",
    cell: (one) => count(one.facts),
  },
  {
    key: "updated",
    title: "Changed",
    width: "8rem",
    wide: true,
    align: "right",
    cell: (one) => (
      <span className="text-sm text-ink-2">
        <TimeAgo at={one.updated_at} />
      </span>
    ),
  },
];

export function EntityIcon({ type }: { type: EntityType }) {
  const Icon = ICONS[type];
  return (
    <span
      title={type}
      className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent-soft text-accent-ink"
    >
      <Icon className="size-4" aria-hidden />
    </span>
  );
}
