import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import type { Past } from "@/shell/past";

/** An entity and the newest facts about it. */
export function entityDetail(id: string, past?: Past) {
  return queryOptions({
    queryKey: ["entity", id, past],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/entities/{entity_id}", {
          signal,
          params: { path: { entity_id: id }, query: { ...past } },
        }),
      ),
  });
}
