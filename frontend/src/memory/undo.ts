import { answer, api, type Schemas } from "@/api/client";
import type { Change } from "@/shell/change";
import type { Opened } from "@/shell/opened";

type Event = Schemas["Event"];

/** Undoes the change that an event recorded; refused while something later depends on it. */
export function undoing(
  find: () => Promise<Event | undefined>,
  said: string,
  shown?: Opened,
): Change {
  return async () => {
    const event = await find();
    if (!event) throw new Error("The log no longer has this change.");
    await answer(
      api.POST("/api/memory/undo", {
        body: { event_id: event.id, anybody: false, dry_run: false },
      }),
    );
    return { said, ...(shown && { shown }) };
  };
}
