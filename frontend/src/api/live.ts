import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { lookWhoIsAway } from "@/api/reachability";
import { addressOf, onOtherTab } from "@/api/tenant";

// A consolidation writes many events at once; the page asks anew once, after the last of them.
const GATHER_MILLISECONDS = 400;
// After a refusal: as one asks again for a page.
const AGAIN_MILLISECONDS = 5_000;

/**
 * Asks anew for what is on the page whenever the memory changes, by server-sent events, or another tab
 * has signed in or out. The browser
 * comes back by itself when the stream has broken off, and names the last event that it was told; where
 * it was refused, as while the database is away, it would not. It begins when it is known whose memory this is.
 */
export function useLiveUpdates(isKnown: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isKnown) return;
    let source: EventSource;
    let waiting: number | undefined;
    const askAnew = () => void queries.invalidateQueries();
    const listen = (onOpen?: () => void) => {
      source = new EventSource(addressOf("/api/memory/events/stream"));
      source.onopen = () => onOpen?.();
      source.onmessage = () => {
        window.clearTimeout(waiting);
        waiting = window.setTimeout(askAnew, GATHER_MILLISECONDS);
      };
      source.onerror = () => {
        lookWhoIsAway();
        if (source.readyState !== EventSource.CLOSED) return;
        // These tell what is wrong: one is signed out, or the database is away.
        askAnew();
        window.clearTimeout(waiting);
        // What happened meanwhile it is not told.
        waiting = window.setTimeout(() => listen(askAnew), AGAIN_MILLISECONDS);
      };
    };
    listen();
    const stop = onOtherTab(askAnew);
    return () => {
      stop();
      window.clearTimeout(waiting);
      source.close();
    };
  }, [queries, isKnown]);
}
