import type { Schemas } from "@/api/client";
import type { Tone } from "@/ui/Badge";

type EventType = Schemas["Event"]["event_type"];

const GOOD = /_(created|promoted|recovered|consolidated|confirmed|restored|helpful|enabled)$/;
const BAD = /_(dead_lettered|failed|expired|retracted|forgotten|harmful|inverted|disabled)$/;
const WARN = /_(fading|demoted|needs_inversion|retry_scheduled)$/;

/** Whether what happened is welcome. */
export function eventTone(type: EventType): Tone {
  if (GOOD.test(type)) return "good";
  if (BAD.test(type)) return "bad";
  return WARN.test(type) ? "warn" : "neutral";
}
