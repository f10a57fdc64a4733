import type { Schemas } from "@/api/client";
import type { FactChanges } from "@/pages/facts/changes";
import type { Difference } from "@/memory/EditConflict";
import { differencesOf } from "@/memory/editing";
import { tagsOf } from "@/memory/tags";
import type { Permanence } from "@/shell/vocabulary";
import { exact } from "@/ui/format";

type Fact = Schemas["Fact"];

/** A fact as the form has it: what is typed, to the letter. */
export interface Draft {
  content: string;
  subject: string;
  predicate: string;
  permanence: Permanence;
  importance: string;
  scope: string;
  tags: string;
  valid_from: string;
  valid_until: string;
}

export function draftOf(fact: Fact): Draft {
  return {
    content: fact.content,
    subject: fact.subject,
    predicate: fact.predicate,
    permanence: fact.permanence,
    importance: String(fact.importance),
    scope: fact.scope,
    tags: fact.tags.join(", "),
    valid_from: localMinute(fact.valid_from),
    valid_until: localMinute(fact.valid_until),
  };
}

/** The fields that say something else than the fact does; what is left alone is inherited. */
export function changesOf(draft: Draft, fact: Fact): FactChanges {
  const before = draftOf(fact);
  const changed = (Object.keys(draft) as (keyof Draft)[]).filter(
    (name) => draft[name] !== before[name],
  );
  return Object.fromEntries(changed.map((name) => [name, valueOf(draft, name)]));
}

function valueOf(draft: Draft, name: keyof Draft): string | number | string[] | null {
  switch (name) {
    case "importance":
      return Number(draft.importance);
    case "tags":
      return tagsOf(draft.tags);
    case "valid_from":
    case "valid_until":
      return draft[name] ? new Date(draft[name]).toISOString() : null;
    default:
      return draft[name];
  }
}

const NAMES: Record<keyof Draft, string> = {
  content: "Fact",
  subject: "Subject",
  predicate: "Predicate",
  permanence: "Permanence",
  importance: "Importance",
  scope: "Scope",
  tags: "Tags",
  valid_from: "True since",
  valid_until: "True until",
};

/** Where their version, mine, or both differ from what I began with. */
export function differences(draft: Draft, began: Fact, theirs: Fact): Difference[] {
  const versions = { mine: draft, began: draftOf(began), theirs: draftOf(theirs) };
  return differencesOf(NAMES, versions, readable);
}

function readable(name: keyof Draft, value: string): string {
  const isDate = name === "valid_from" || name === "valid_until";
  return isDate && value ? exact(new Date(value)) : value;
}

/** As `<input type="datetime-local">` has it, in the reader's own time. */
function localMinute(iso: string | null): string {
  if (!iso) return "";
  const moment = new Date(iso);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16);
}
