import { answer, api, type Schemas } from "@/api/client";
import { undoing } from "@/memory/undo";
import { maskedPart } from "@/memory/unmask";
import type { Change } from "@/shell/change";

type Fact = Schemas["Fact"];
export type FactChanges = Partial<Omit<Schemas["FactEditRequest"], "allow_secrets">>;

/** Correct a fact by one that supersedes it (DASH-05). Undone, the correction is gone again. */
export function editFact(before: Fact, revision: string, changes: FactChanges): Change {
  return async () => {
    const { fact, unmask_key } = await answer(
      api.PUT("/api/memory/facts/{fact_id}", {
        params: { path: { fact_id: before.id }, header: { "If-Match": `"${revision}"` } },
        body: { trust: "user_said", allow_secrets: false, ...changes },
      }),
    );
    const made = async () => {
      const { items } = await answer(
        api.GET("/api/memory/facts/{memory_id}/events", {
          params: { path: { memory_id: fact.id } },
        }),
      );
      return items.find((one) => one.event_type === "fact_created");
    };
    return {
      said: unmask_key
        ? "Saved, and what looks like a secret was masked. The old version is in the archive."
        : "Saved. The old version is in the archive.",
      ...maskedPart(unmask_key),
      undo: undoing(made, "Edit undone.", `fact:${before.id}`),
      shown: `fact:${fact.id}`,
    };
  };
}
