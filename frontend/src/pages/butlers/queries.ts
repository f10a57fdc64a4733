import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";
import { nextOffset } from "@/api/paging";
import type { FactsSearch } from "@/pages/facts/route";

export type Butler = Schemas["Butler"];

// As many cards as one reads before asking for more.
const FACTS = 100;
// Of the playbook; a butler with more is told so.
const RULES = 200;
const EPISODES = 10;

export function butlerDetail(butler: string) {
  return queryOptions({
    queryKey: ["butler", butler],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/butlers/{butler}", { signal, params: { path: { butler } } })),
  });
}

/** The facts that a butler sees, in the order of their subjects (DASH-01). */
export function butlerFacts(
  butler: string,
  { show = "active", permanence, entity, ...rest }: Omit<FactsSearch, "sort">,
) {
  return infiniteQueryOptions({
    queryKey: ["butler", butler, "facts", show, permanence, entity, rest],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/butlers/{butler}/memory/facts", {
          signal,
          params: {
            path: { butler },
            query: {
              ...rest,
              permanence: permanence && [permanence],
              entity_id: entity,
              validity: show,
              sort: "subject",
              direction: "asc",
              limit: FACTS,
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

export function butlerRules(butler: string) {
  return queryOptions({
    queryKey: ["butler", butler, "rules"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/butlers/{butler}/memory/rules", {
          signal,
          params: { path: { butler }, query: { sort: "effectiveness", limit: RULES } },
        }),
      ),
  });
}

export function butlerEpisodes(butler: string) {
  return queryOptions({
    queryKey: ["butler", butler, "episodes"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/butlers/{butler}/memory/episodes", {
          signal,
          params: { path: { butler }, query: { limit: EPISODES } },
        }),
      ),
  });
}
