import { createRoute } from "@tanstack/react-router";
import { given, number, oneOf, text, uuid } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";
import { PERMANENCES } from "@/shell/vocabulary";

/** The tabs: what holds, what is about to be lost, what is in doubt, and what no longer holds. */
export const SHOWN = ["active", "fading", "waiting", "archive"] as const;
export const SORTS = ["created", "confirmed", "confidence", "importance", "references"] as const;

export function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    subject: text(search["subject"]),
    source_butler: text(search["source_butler"]),
    scope: text(search["scope"]),
    entity: uuid(search["entity"]),
    permanence: oneOf(PERMANENCES, search["permanence"]),
    min_confidence: number(search["min_confidence"], 0, 1),
    show: oneOf(SHOWN, search["show"]),
    sort: oneOf(SORTS, search["sort"]),
    /** The dialog that adds a fact is open. */
    add: oneOf(["yes"], search["add"]),
  });
}

export type FactsSearch = ReturnType<typeof filters>;

export const facts = createRoute({
  getParentRoute: () => root,
  path: "/memory/facts",
  validateSearch: filters,
  component: page(() => import("@/pages/facts/Facts")),
});
