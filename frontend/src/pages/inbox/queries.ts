import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";

export type Inbox = Schemas["InboxOutput"];
export type Item = Inbox["items"][number];
export type Kind = Item["kind"];
export type Conflict = NonNullable<Item["conflict"]>;
export type Choice = Schemas["SettleInput"]["choice"];

// More than one decides at a sitting; what is decided makes room.
const SHOWN = 50;

/** What waits for a decision, the worthiest first. */
export const inbox = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) =>
    answer(api.GET("/api/memory/inbox", { signal, params: { query: { limit: SHOWN } } })),
  placeholderData: keepPreviousData,
});

/** What tells an item from all others, as long as it waits. */
export function keyOf({ kind, fact, conflict, episode }: Item): string {
  const ids = conflict ? [conflict.earlier.id, conflict.later.id] : [(fact ?? episode)?.id];
  return [kind, ...ids].join(" ");
}
