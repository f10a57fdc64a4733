import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { nextOffset } from "@/api/paging";
import type { SessionsSearch } from "@/pages/sessions/route";

const PAGE = 50;

export function sessionPages({ butler }: SessionsSearch) {
  return infiniteQueryOptions({
    queryKey: ["sessions", butler],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/memory/sessions", {
          signal,
          params: { query: { butler, limit: PAGE, offset: pageParam } },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    placeholderData: keepPreviousData,
  });
}

export function sessionDetail(id: string) {
  return queryOptions({
    queryKey: ["session", id],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/sessions/{session_id}", {
          signal,
          params: { path: { session_id: id } },
        }),
      ),
  });
}
