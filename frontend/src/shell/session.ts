import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";

/** Who one is here, and whether this server shows a demonstration; neither changes under a page. */
export const session = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => answer(api.GET("/api/session", { signal })),
  staleTime: Infinity,
});
