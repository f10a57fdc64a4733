import type { Schemas } from "@/api/client";
import type { Tone } from "@/ui/Badge";
import { count, words } from "@/ui/format";

type Event = Schemas["Event"];
type EventType = Event["event_type"];

const GOOD = /_(created|promoted|recovered|consolidated|confirmed|restored|helpful|enabled)$/;
const BAD = /_(dead_lettered|failed|expired|retracted|forgotten|harmful|inverted|disabled)$/;
const WARN = /_(fading|demoted|needs_inversion|retry_scheduled)$/;

// What these did is kept nowhere, or was nobody's change.
const NO_WAY_BACK: ReadonlySet<EventType> = new Set([
  "change_undone",
  "memory_masked",
  "memory_unmasked",
  "memories_erased",
  "episodes_cleaned",
  "decay_sweep_completed",
  "episode_retry_scheduled",
  "episode_failed",
  "episode_dead_lettered",
]);

/** Whether an event is of a change that can be taken back, as far as the event tells. */
export function canUndo({ event_type, undone }: Event): boolean {
  return !undone && !NO_WAY_BACK.has(event_type);
}

/** Who did it. */
export function by(actor: string): string {
  if (actor === "schedule") return "by a scheduled job";
  if (actor === "cli") return "on the command line";
  return actor === "local" ? "on this computer" : `by ${actor}`;
}

/** Whether what happened is welcome. */
export function eventTone(type: EventType): Tone {
  if (GOOD.test(type)) return "good";
  if (BAD.test(type)) return "bad";
  return WARN.test(type) ? "warn" : "neutral";
}

/**
 * What an event is about: a memory, else what a link says of two, else the figures that it holds, else
 * what its kind means.
 */
export function toldOf({ about, payload, said }: Event): string {
  const { source_type, relation, target_type } = payload;
  if (about === null && typeof relation === "string")
    return words(`${source_type} ${relation} ${target_type}`);
  const figures = Object.entries(payload).flatMap(([name, value]) =>
    typeof value === "number" && value !== 0 ? [`${words(name)}: ${count(value)}`] : [],
  );
  return about ?? (figures.join(", ") || said);
}
