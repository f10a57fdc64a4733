import { answer, api, type Schemas } from "@/api/client";
import { maskedPart } from "@/memory/unmask";
import type { Change } from "@/shell/change";
import { MATURITIES } from "@/shell/vocabulary";
import { words } from "@/ui/format";

type Rule = Schemas["StatedRule"];
export type RuleChanges = Partial<Omit<Schemas["RuleEditRequest"], "allow_secrets">>;

/** What a person may do with a rule's standing (C-37). */
export type Act = "promote" | "demote" | "disable" | "enable";

const INVERSE: Record<Act, Act> = {
  promote: "demote",
  demote: "promote",
  disable: "enable",
  enable: "disable",
};

function request(act: Act, id: string, revision?: string) {
  const options = {
    params: {
      path: { rule_id: id },
      header: revision ? { "If-Match": `"${revision}"` } : {},
    },
  };
  switch (act) {
    case "promote":
      return answer(api.POST("/api/memory/rules/{rule_id}/promote", options));
    case "demote":
      return answer(api.POST("/api/memory/rules/{rule_id}/demote", options));
    case "disable":
      return answer(api.POST("/api/memory/rules/{rule_id}/disable", options));
    case "enable":
      return answer(api.POST("/api/memory/rules/{rule_id}/enable", options));
  }
}

/** Moves a rule by hand; with `revision` only if it still is what one looked at. */
export function move(act: Act, id: string, revision?: string): Change {
  return async () => {
    const { rule, revision: newest } = await request(act, id, revision);
    return { said: sayMoved(act, rule), undo: move(INVERSE[act], id, newest) };
  };
}

function sayMoved(act: Act, rule: Rule): string {
  switch (act) {
    case "promote":
    case "demote":
      return `The rule is ${words(rule.maturity)} now.`;
    case "disable":
      return "The rule is off: agents no longer get it.";
    case "enable":
      return "The rule is on again.";
  }
}

/** The acts that a rule's maturity and state allow. */
export function allowed({ maturity, state }: Pick<Rule, "maturity" | "state">): Act[] {
  if (state === "forgotten") return [];
  const steps: Record<Rule["maturity"], Act[]> = {
    candidate: ["promote"],
    established: ["promote", "demote"],
    proven: ["demote"],
    anti_pattern: [],
  };
  return [...steps[maturity], state === "disabled" ? "enable" : "disable"];
}

/**
 * Gives a rule another text, scope or tags, which makes it a candidate again. Taking it back brings
 * back the old ones, and the maturity where promoting by hand leads there.
 */
export function editRule(before: Rule, revision: string, changes: RuleChanges): Change {
  return async () => {
    const { revision: newest, unmask_key } = await put(before.id, revision, changes);
    const saved = unmask_key ? "Saved, and what looks like a secret was masked." : "Saved.";
    return {
      said: `${saved} The rule is a candidate again.`,
      ...maskedPart(unmask_key),
      undo: takeBack(before, newest, changes),
    };
  };
}

function takeBack(before: Rule, revision: string, changes: RuleChanges): Change {
  return async () => {
    const inverse = Object.fromEntries(
      Object.keys(changes).map((name) => [name, before[name as keyof RuleChanges]]),
    );
    // What it said before was stored like that: it comes back as it was.
    let now = await put(before.id, revision, { ...inverse, trust: before.trust }, true);
    while (isBelow(now.rule, before)) now = await request("promote", before.id, now.revision);
    return { said: `As it was before: ${words(now.rule.maturity)}.` };
  };
}

function isBelow(rule: Rule, before: Rule): boolean {
  // An anti-pattern stands beside the steps, not on one.
  if (before.maturity === "anti_pattern") return false;
  return MATURITIES.indexOf(rule.maturity) > MATURITIES.indexOf(before.maturity);
}

function put(id: string, revision: string, changes: RuleChanges, allow_secrets = false) {
  return answer(
    api.PUT("/api/memory/rules/{rule_id}", {
      params: { path: { rule_id: id }, header: { "If-Match": `"${revision}"` } },
      body: { trust: "user_said", allow_secrets, ...changes },
    }),
  );
}
