import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";
import { nextOffset } from "@/api/paging";
import type { FactsSearch } from "@/pages/facts/route";
import type { Past } from "@/shell/past";

export type ListedFact = Schemas["ListedFact"];

// What fills a window comes first and soon; then the most that the API gives at once, so that fewer
// requests are made while one scrolls.
const [FIRST, PAGE] = [50, 200];

export function factPages(
  { show = "active", sort = "created", permanence, entity, ...rest }: FactsSearch,
  past?: Past,
) {
  return infiniteQueryOptions({
    queryKey: ["facts", show, sort, permanence, entity, rest, past],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/memory/facts", {
          signal,
          params: {
            query: {
              ...rest,
              ...past,
              permanence: permanence && [permanence],
              entity_id: entity,
              validity: show,
              sort,
              limit: pageParam === 0 ? FIRST : PAGE,
              offset: pageParam,
            },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    placeholderData: keepPreviousData,
  });
}

export function factDetail(id: string, past?: Past) {
  return queryOptions({
    queryKey: ["fact", id, past],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/facts/{fact_id}", {
          signal,
          params: { path: { fact_id: id }, query: { ...past } },
        }),
      ),
  });
}
