import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

export const statistics = queryOptions({
  queryKey: ["stats"],
  queryFn: ({ signal }) => answer(api.GET("/api/memory/stats", { signal })),
});
