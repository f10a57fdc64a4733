import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { asked, type Schemas } from "@/api/client";

export type Inbox = Schemas["InboxOutput"];
export type Item = Inbox["items"][number];
export type Kind = Item["kind"];
export type Conflict = NonNullable<Item["conflict"]>;
export type Choice = Schemas["SettleInput"]["choice"];

/** What is asked for at once; what is decided makes room, and what is skipped asks for more. */
export const SHOWN = 50;
/** The most that the server lists, and of each kind the most that it counts. */
export const MOST = 200;

/** What waits for a decision, of one kind or of all, the worthiest first. */
export function inbox(kind: Kind | undefined, limit: number) {
  return queryOptions({
    ...asked(["inbox", kind, limit], "/api/memory/inbox", {
      query: { limit, ...(kind && { kind }) },
    }),
    placeholderData: keepPreviousData,
  });
}

/** What tells an item from all others, as long as it waits. */
export function keyOf(item: Item): string {
  return [item.kind, ...idsOf(item)].join(" ");
}

/** What an item is about. */
export function idsOf({ fact, conflict, episode }: Item): (string | undefined)[] {
  return conflict ? [conflict.earlier.id, conflict.later.id] : [(fact ?? episode)?.id];
}
