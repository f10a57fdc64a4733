import { answer, api } from "@/api/client";
import { accept, confirm, forget } from "@/memory/changes";
import { undoing } from "@/memory/undo";
import type { Choice, Conflict, Item } from "@/pages/inbox/queries";
import type { Change } from "@/shell/change";

/** What one may decide about an item, by one key. */
export interface Decision {
  key: string;
  title: string;
  make: Change;
  /** The fact of two that goes, and with it what else waits about that fact. */
  loses?: string;
}

/** The decisions that an item allows, the usual one first. */
export function decisionsOf({ kind, fact, conflict, episode }: Item): Decision[] {
  if (conflict) return kind === "duplicate" ? repeats(conflict) : contradictions(conflict);
  if (fact)
    return [
      {
        key: "k",
        title: kind === "waiting" ? "Accept" : "Confirm",
        make: kind === "waiting" ? accept(fact.id) : confirm("fact", fact.id),
      },
      { key: "a", title: "Archive", make: forget("fact", fact.id) },
    ];
  if (episode)
    return [
      { key: "r", title: "Retry", make: retry(episode.id) },
      { key: "a", title: "Archive", make: forget("episode", episode.id) },
    ];
  return [];
}

function repeats(conflict: Conflict): Decision[] {
  return [
    { key: "m", title: "Merge into the later one", ...later(conflict) },
    { key: "e", title: "Merge into the earlier one", ...earlier(conflict) },
    { key: "k", title: "Keep both", make: settle(conflict, "keep_both") },
  ];
}

function contradictions(conflict: Conflict): Decision[] {
  return [
    { key: "e", title: "The earlier one holds", ...earlier(conflict) },
    { key: "l", title: "The later one holds", ...later(conflict) },
    { key: "k", title: "Keep both", make: settle(conflict, "keep_both") },
  ];
}

function earlier(conflict: Conflict): Pick<Decision, "make" | "loses"> {
  return { make: settle(conflict, "keep_earlier"), loses: conflict.later.id };
}

function later(conflict: Conflict): Pick<Decision, "make" | "loses"> {
  return { make: settle(conflict, "keep_later"), loses: conflict.earlier.id };
}

const SAID: Record<Choice, string> = {
  keep_earlier: "Confirmed the earlier fact and archived the later one.",
  keep_later: "The later fact holds; the earlier one is superseded.",
  keep_both: "Both are kept.",
};

/** Says which of two facts holds. */
function settle({ earlier, later }: Conflict, choice: Choice): Change {
  return async () => {
    await answer(
      api.POST("/api/memory/conflicts/settle", {
        body: { earlier_id: earlier.id, later_id: later.id, choice },
      }),
    );
    const settled = async () => {
      const { items } = await answer(
        api.GET("/api/memory/facts/{memory_id}/events", {
          params: { path: { memory_id: later.id } },
        }),
      );
      return items.find((one) => one.event_type === "conflict_settled");
    };
    return { said: SAID[choice], undo: undoing(settled, "Both facts are as they were before.") };
  };
}

/** Lets consolidation try an episode again. */
function retry(id: string): Change {
  return async () => {
    await answer(api.POST("/api/memory/dead-letters/retry", { body: { episode_ids: [id] } }));
    const retried = async () => {
      const { items } = await answer(
        api.GET("/api/memory/episodes/{memory_id}/events", { params: { path: { memory_id: id } } }),
      );
      return items.find((one) => one.event_type === "episode_retry_scheduled");
    };
    return {
      said: "The next consolidation will read the episode again.",
      undo: undoing(retried, "The episode is a dead letter again."),
    };
  };
}
