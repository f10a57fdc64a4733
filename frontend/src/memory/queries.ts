import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import type { Past } from "@/shell/past";
import type { MemoryType } from "@/shell/vocabulary";

const EVENTS = 20;

/** What happened to one memory, newest first. */
export function history(kind: MemoryType, id: string, past?: Past) {
  return infiniteQueryOptions({
    queryKey: ["events", kind, id, past?.known_at],
    queryFn: ({ signal, pageParam }) => {
      const options = {
        signal,
        params: {
          path: { memory_id: id },
          query: { limit: EVENTS, offset: pageParam, until: past?.known_at },
        },
      };
      switch (kind) {
        case "fact":
          return answer(api.GET("/api/memory/facts/{memory_id}/events", options));
        case "rule":
          return answer(api.GET("/api/memory/rules/{memory_id}/events", options));
        case "episode":
          return answer(api.GET("/api/memory/episodes/{memory_id}/events", options));
      }
    },
    initialPageParam: 0,
    getNextPageParam: ({ offset, items, total }) => {
      const next = offset + items.length;
      return next < total && items.length > 0 ? next : undefined;
    },
  });
}

/** The language model that learns from episodes; null where there is none. */
export const languageModel = queryOptions({
  queryKey: ["jobs", "model"],
  queryFn: ({ signal }) =>
    answer(api.GET("/api/memory/jobs", { signal, params: { query: { limit: 1 } } })),
  select: ({ language_model }) => language_model,
});
