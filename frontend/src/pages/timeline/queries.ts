import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { nextOffset } from "@/api/paging";
import { kindsOf } from "@/pages/timeline/kinds";
import type { TimelineSearch } from "@/pages/timeline/route";
import { span } from "@/shell/days";

const PAGE = 100;

export function eventPages({ about, kind, butler, from, to }: TimelineSearch) {
  const kinds = kind ? [kind] : about && kindsOf(about);
  return infiniteQueryOptions({
    queryKey: ["timeline", kinds, butler, from, to],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/memory/events", {
          signal,
          params: {
            query: { kind: kinds, butler, ...span({ from, to }), limit: PAGE, offset: pageParam },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    placeholderData: keepPreviousData,
  });
}
