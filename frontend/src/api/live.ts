import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

// A consolidation writes many events at once; the page asks anew once, after the last of them.
const GATHER_MILLISECONDS = 400;

/**
 * Asks anew for what is on the page whenever the memory changes, by server-sent events. The browser
 * comes back by itself when the stream has ended, and names the last event that it was told.
 */
export function useLiveUpdates(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const source = new EventSource("/api/memory/events/stream");
    let gathering: number | undefined;
    source.onmessage = () => {
      window.clearTimeout(gathering);
      gathering = window.setTimeout(() => void queries.invalidateQueries(), GATHER_MILLISECONDS);
    };
    return () => {
      window.clearTimeout(gathering);
      source.close();
    };
  }, [queries]);
}
