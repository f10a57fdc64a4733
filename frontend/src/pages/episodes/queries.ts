import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { nextOffset } from "@/api/paging";
import type { EpisodesSearch } from "@/pages/episodes/route";
import { span } from "@/shell/days";

const PAGE = 50;

export function episodePages({ show = "all", order, q, butler, from, to }: EpisodesSearch) {
  return infiniteQueryOptions({
    queryKey: ["episodes", show, order, q, butler, from, to],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/memory/episodes", {
          signal,
          params: {
            query: {
              q,
              butler,
              ...span({ from, to }),
              status: show === "all" ? undefined : [show],
              sort: order === "important" ? "importance" : "occurred",
              direction: order === "oldest" ? "asc" : "desc",
              limit: PAGE,
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

export function episodeDetail(id: string) {
  return queryOptions({
    queryKey: ["episode", id],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/episodes/{episode_id}", {
          signal,
          params: { path: { episode_id: id } },
        }),
      ),
  });
}
