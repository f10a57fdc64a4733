import { answer, api, type Schemas } from "@/api/client";
import type { Change } from "@/shell/change";

type Fact = Schemas["Fact"];
export type FactChanges = Schemas["FactEditRequest"];

/**
 * Correct a fact by one that supersedes it (DASH-05). To take it back is to correct the new one by
 * what the old one said, on the old word: what was known in between stays in the archive.
 */
export function editFact(before: Fact, revision: string, changes: FactChanges): Change {
  return async () => {
    const { fact, revision: newest } = await answer(
      api.PUT("/api/memory/facts/{fact_id}", {
        params: { path: { fact_id: before.id }, header: { "If-Match": `"${revision}"` } },
        body: { trust: "user_said", ...changes },
      }),
    );
    const inverse = Object.fromEntries(
      Object.keys(changes).map((name) => [name, before[name as keyof FactChanges]]),
    );
    return {
      said: "Saved. The old version is in the archive.",
      undo: editFact(fact, newest, { ...inverse, trust: before.trust }),
      shown: `fact:${fact.id}`,
    };
  };
}
