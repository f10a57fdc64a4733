/** The messages of a conversation, kept fresh without reading again whatever was scrolled back to. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { latest, stream, type JournalEvent } from "@/pages/journal/queries";

export interface Conversation {
  /** The oldest first; undefined until they are there. */
  events: JournalEvent[] | undefined;
  /** Changes with each look at the server. */
  lookedAt: number;
  hasOlder: boolean;
  isLoadingOlder: boolean;
  loadOlder: () => void;
}

/** Only the newest page is read again and again; what is older does not change but by an erasure. */
export function useConversation(companion: string, exists: boolean): Conversation {
  const newest = useQuery({ ...latest(companion), enabled: exists });
  const pages = useInfiniteQuery({ ...stream(companion, {}), enabled: exists });
  const fresh = newest.data?.events;
  const loaded = pages.data?.pages.flatMap((one) => one.events) ?? [];
  const oldest = fresh?.at(-1);
  // The whole journal may be on the newest page, or all of it may be erased.
  const isAll = newest.data !== undefined && newest.data.next === null;
  const older = oldest && !isAll ? loaded.filter((one) => comesBefore(one, oldest)) : [];
  // So many came meanwhile that there is a gap between the two.
  const [first] = loaded;
  const hasGap = !!oldest && !isAll && !!first && comesBefore(first, oldest);
  const { refetch } = pages;
  useEffect(() => {
    if (hasGap) void refetch();
  }, [hasGap, refetch]);
  return {
    events: fresh && [...fresh, ...older].toReversed(),
    lookedAt: newest.dataUpdatedAt,
    hasOlder: pages.hasNextPage,
    isLoadingOlder: pages.isFetchingNextPage,
    loadOlder: () => void pages.fetchNextPage(),
  };
}

function comesBefore(one: JournalEvent, other: JournalEvent): boolean {
  const [at, then] = [Date.parse(one.ts), Date.parse(other.ts)];
  return at === then ? one.id < other.id : at < then;
}
