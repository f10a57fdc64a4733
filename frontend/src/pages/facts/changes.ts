import { answer, api, type Schemas } from "@/api/client";
import type { Change } from "@/shell/change";

type Fact = Schemas["Fact"];
export type FactChanges = Partial<Omit<Schemas["FactEditRequest"], "allow_secrets">>;

/**
 * Correct a fact by one that supersedes it (DASH-05). To take it back is to correct the new one by
 * what the old one said, on the old word: what was known in between stays in the archive.
 */
export function editFact(
  before: Fact,
  revision: string,
  changes: FactChanges,
  allow_secrets = false,
): Change {
  return async () => {
    const {
      fact,
      revision: newest,
      secrets,
    } = await answer(
      api.PUT("/api/memory/facts/{fact_id}", {
        params: { path: { fact_id: before.id }, header: { "If-Match": `"${revision}"` } },
        body: { trust: "user_said", allow_secrets, ...changes },
      }),
    );
    const inverse = Object.fromEntries(
      Object.keys(changes).map((name) => [name, before[name as keyof FactChanges]]),
    );
    return {
      said: secrets?.startsWith("Masked")
        ? "Saved, and what looks like a secret was masked. The old version is in the archive."
        : "Saved. The old version is in the archive.",
      // What it said before was stored like that: it comes back as it was.
      undo: editFact(fact, newest, { ...inverse, trust: before.trust }, true),
      shown: `fact:${fact.id}`,
    };
  };
}
