import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { asked, listed } from "@/api/client";
import type { Past } from "@/shell/past";
import type { MemoryType } from "@/shell/vocabulary";

const EVENTS = 20;

/** What happened to one memory, newest first. */
export function history(kind: MemoryType, id: string, past?: Past) {
  const path = `/api/memory/${kind}s/{memory_id}/events` as const;
  const found = listed(["events", kind, id, past?.known_at], path, (offset) => ({
    path: { memory_id: id },
    query: { limit: EVENTS, offset, until: past?.known_at },
  }));
  // Another memory's events are not shown meanwhile.
  return infiniteQueryOptions({ ...found, placeholderData: undefined });
}

/** The language model of the server, for consolidation and journals alike; null where there is none. */
export const languageModel = queryOptions({
  ...asked(["jobs", "model"], "/api/memory/jobs", { query: { limit: 1 } }),
  select: ({ language_model }) => language_model,
});
