import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";

export type Conflict = Schemas["OpenConflict"];
export type Choice = Schemas["SettleInput"]["choice"];

const PAGE = 50;

export const conflictPages = infiniteQueryOptions({
  queryKey: ["conflicts"],
  queryFn: ({ signal, pageParam }) =>
    answer(
      api.GET("/api/memory/conflicts", {
        signal,
        params: { query: { limit: PAGE, offset: pageParam } },
      }),
    ),
  initialPageParam: 0,
  getNextPageParam: ({ offset, items, total }) => {
    const next = offset + items.length;
    return next < total && items.length > 0 ? next : undefined;
  },
  placeholderData: keepPreviousData,
});
