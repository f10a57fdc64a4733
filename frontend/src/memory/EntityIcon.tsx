import { Building2, MapPin, Shapes, UserRound, type LucideIcon } from "lucide-react";
import type { EntityType } from "@/shell/vocabulary";

const ICONS: Record<EntityType, LucideIcon> = {
  person: UserRound,
  organization: Building2,
  place: MapPin,
  other: Shapes,
};

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
