import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { show } from "@/api/tenant";

/** Whether a token is shown around that may change nothing. */
export function isReadOnly(me: { signed_in: boolean; scopes: string[] }): boolean {
  return me.signed_in && !me.scopes.includes("write");
}

/** Who one is here, and whether this server shows a demonstration; neither changes under a page. */
export const session = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => {
    const me = await answer(api.GET("/api/session", { signal }));
    show(me.tenant);
    return me;
  },
  // Asked once: with another, all of the page would be another's.
  staleTime: ({ state }) => (state.data ? "static" : 0),
});
