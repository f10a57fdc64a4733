import { answer, api } from "@/api/client";
import type { Choice, Conflict } from "@/pages/conflicts/queries";
import type { Change } from "@/shell/change";

const SAID: Record<Choice, string> = {
  keep_earlier: "Confirmed the earlier fact and forgot the later one.",
  keep_later: "The later fact holds; the earlier one is superseded.",
  keep_both: "Both are kept.",
};

/** Says which of two facts holds. A fact that was forgotten by it can be brought back. */
export function settle({ earlier, later }: Conflict, choice: Choice): Change {
  return async () => {
    await answer(
      api.POST("/api/memory/conflicts/settle", {
        body: { earlier_id: earlier.id, later_id: later.id, choice },
      }),
    );
    return { said: SAID[choice], ...(choice === "keep_earlier" && { undo: restore(later.id) }) };
  };
}

function restore(id: string): Change {
  return async () => {
    await answer(
      api.POST("/api/memory/facts/{memory_id}/restore", { params: { path: { memory_id: id } } }),
    );
    return { said: "Brought the later fact back." };
  };
}
