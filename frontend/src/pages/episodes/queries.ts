import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { nextOffset } from "@/api/paging";
import type { EpisodesSearch, SHOWN } from "@/pages/episodes/route";
import { span } from "@/shell/days";
import type { Past } from "@/shell/past";

const PAGE = 50;

export function episodePages(
  { show = "all", order, q, butler, from, to }: EpisodesSearch,
  past?: Past,
) {
  return infiniteQueryOptions({
    queryKey: ["episodes", show, order, q, butler, from, to, past],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/memory/episodes", {
          signal,
          params: {
            query: {
              q,
              butler,
              ...span({ from, to }),
              ...state(show),
              ...past,
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

/** What a tab asks for: expired ones are in a tab of their own. */
function state(show: (typeof SHOWN)[number]) {
  switch (show) {
    case "all":
      return {};
    case "expired":
      return { expired: true };
    default:
      return { status: [show] };
  }
}

export function episodeDetail(id: string, past?: Past) {
  return queryOptions({
    queryKey: ["episode", id, past],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/episodes/{episode_id}", {
          signal,
          params: { path: { episode_id: id }, query: { ...past } },
        }),
      ),
  });
}
