import { answer, api } from "@/api/client";
import { undoing } from "@/memory/undo";
import type { Choice, Conflict } from "@/pages/conflicts/queries";
import type { Change } from "@/shell/change";

const SAID: Record<Choice, string> = {
  keep_earlier: "Confirmed the earlier fact and forgot the later one.",
  keep_later: "The later fact holds; the earlier one is superseded.",
  keep_both: "Both are kept.",
};

/** Says which of two facts holds. */
export function settle({ earlier, later }: Conflict, choice: Choice): Change {
  return async () => {
    await answer(
      api.POST("/api/memory/conflicts/settle", {
        body: { earlier_id: earlier.id, later_id: later.id, choice },
      }),
    );
    return {
      said: SAID[choice],
      undo: undoing(() => choiceAbout(later.id), "Both facts are as they were before."),
    };
  };
}

/** The last choice about a fact. */
async function choiceAbout(id: string) {
  const { items } = await answer(
    api.GET("/api/memory/facts/{memory_id}/events", { params: { path: { memory_id: id } } }),
  );
  return items.find((one) => one.event_type === "conflict_settled");
}
