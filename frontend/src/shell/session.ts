import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { show } from "@/api/tenant";

interface Me {
  signed_in: boolean;
  token_required: boolean;
  tenant: string | null;
  scopes: string[];
}

// What a server without tokens shows to whoever asks.
const DEFAULT_TENANT = "default";

/** Whether one is signed in by a token that may change nothing. */
export function isReadOnly(me: Me): boolean {
  return me.signed_in && !me.scopes.includes("write");
}

/** Whether what one sees takes a token. */
export function isByToken(me: Me): boolean {
  return me.token_required || me.tenant !== DEFAULT_TENANT || isReadOnly(me);
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
