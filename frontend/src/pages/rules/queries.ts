import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";
import type { RulesSearch } from "@/pages/rules/route";
import type { Past } from "@/shell/past";

export type ListedRule = Schemas["ListedRule"];

// Of each maturity, before one asks for more.
const PAGE = 25;

/** The rules that the filters let through. */
export function rulePages(search: RulesSearch, past?: Past) {
  return infiniteQueryOptions({
    queryKey: ["rules", search, past],
    queryFn: ({ signal, pageParam }) => rulesOf(search, past, signal, PAGE, pageParam),
    initialPageParam: 0,
    getNextPageParam: ({ offset, items, total }) => {
      const next = offset + items.length;
      return next < total && items.length > 0 ? next : undefined;
    },
    placeholderData: keepPreviousData,
  });
}

/** How many there are of them, in the answer to the smallest question. */
export function rulesTotal(search: RulesSearch, past?: Past) {
  return queryOptions({
    queryKey: ["rules", "total", search, past],
    queryFn: ({ signal }) => rulesOf(search, past, signal, 1, 0),
    placeholderData: keepPreviousData,
  });
}

function rulesOf(
  { show = "kept", sort = "effectiveness", maturity, ...rest }: RulesSearch,
  past: Past | undefined,
  signal: AbortSignal,
  limit: number,
  offset: number,
) {
  const query = {
    ...rest,
    ...past,
    maturity: maturity && [maturity],
    state: show,
    sort,
    limit,
    offset,
  };
  return answer(api.GET("/api/memory/rules", { signal, params: { query } }));
}

export function ruleDetail(id: string, past?: Past) {
  return queryOptions({
    queryKey: ["rule", id, past],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/rules/{rule_id}", {
          signal,
          params: { path: { rule_id: id }, query: { ...past } },
        }),
      ),
  });
}
