import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** An entity and the newest facts about it. */
export function entityDetail(id: string) {
  return queryOptions({
    queryKey: ["entity", id],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/entities/{entity_id}", {
          signal,
          params: { path: { entity_id: id } },
        }),
      ),
  });
}
