import type { Schemas } from "@/api/client";

export type EventType = Schemas["Event"]["event_type"];
export type Category = (typeof CATEGORIES)[number];

export const CATEGORIES = [
  "turning_points",
  "facts",
  "rules",
  "episodes",
  "entities",
  "upkeep",
] as const;

export const CATEGORY_TITLES: Record<Category, string> = {
  turning_points: "Turning points",
  facts: "Facts",
  rules: "Rules",
  episodes: "Episodes",
  entities: "Entities",
  upkeep: "Links and upkeep",
};

const CATEGORY_OF: Record<EventType, Exclude<Category, "turning_points">> = {
  fact_created: "facts",
  fact_superseded: "facts",
  fact_fading: "facts",
  fact_recovered: "facts",
  fact_expired: "facts",
  fact_retracted: "facts",
  fact_accepted: "facts",
  fact_set_aside: "facts",
  conflict_settled: "facts",
  rule_created: "rules",
  rule_promoted: "rules",
  rule_demoted: "rules",
  rule_helpful: "rules",
  rule_harmful: "rules",
  rule_needs_inversion: "rules",
  rule_inverted: "rules",
  rule_fading: "rules",
  rule_recovered: "rules",
  rule_edited: "rules",
  rule_disabled: "rules",
  rule_enabled: "rules",
  rule_forgotten: "rules",
  episode_created: "episodes",
  episode_consolidated: "episodes",
  episode_retry_scheduled: "episodes",
  episode_failed: "episodes",
  episode_dead_lettered: "episodes",
  episode_forgotten: "episodes",
  entity_created: "entities",
  entity_updated: "entities",
  entity_merge: "entities",
  memory_confirmed: "upkeep",
  memory_restored: "upkeep",
  memory_masked: "upkeep",
  memory_unmasked: "upkeep",
  link_created: "upkeep",
  change_undone: "upkeep",
  memories_erased: "upkeep",
  episodes_cleaned: "upkeep",
  decay_sweep_completed: "upkeep",
};

export const EVENT_TYPES = Object.keys(CATEGORY_OF) as EventType[];

// What a person wants to hear of even where they hear of nothing else (DASH-18).
const TURNING_POINTS: readonly EventType[] = [
  "fact_created",
  "fact_superseded",
  "fact_fading",
  "fact_expired",
  "rule_promoted",
  "rule_demoted",
  "rule_fading",
  "rule_inverted",
  "episode_dead_lettered",
];

/** The kinds of event of a category. */
export function kindsOf(category: Category): EventType[] {
  if (category === "turning_points") return [...TURNING_POINTS];
  return EVENT_TYPES.filter((one) => CATEGORY_OF[one] === category);
}

// Where the name of the log is not what one would say.
const TITLES: Partial<Record<EventType, string>> = {
  fact_fading: "confidence alert: fact fading",
  rule_fading: "confidence alert: rule fading",
  rule_inverted: "anti-pattern inverted",
  entity_merge: "entities merged",
};

/** An event's kind as one would say it. */
export function titleOf(type: EventType): string {
  return TITLES[type] ?? type.replaceAll("_", " ");
}
