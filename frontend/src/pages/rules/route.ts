import { createRoute } from "@tanstack/react-router";
import { given, number, oneOf, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";
import { MATURITIES } from "@/shell/vocabulary";

/** What the tabs show: all that are not forgotten, and those of one state. */
export const SHOWN = ["kept", "fading", "disabled", "forgotten"] as const;
export const SORTS = ["created", "effectiveness", "applied", "confidence"] as const;

function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    scope: text(search["scope"]),
    source_butler: text(search["source_butler"]),
    maturity: oneOf(MATURITIES, search["maturity"]),
    min_confidence: number(search["min_confidence"], 0, 1),
    show: oneOf(SHOWN, search["show"]),
    sort: oneOf(SORTS, search["sort"]),
  });
}

export type RulesSearch = ReturnType<typeof filters>;

export const rules = createRoute({
  getParentRoute: () => root,
  path: "/memory/rules",
  validateSearch: filters,
  component: page(() => import("@/pages/rules/Rules")),
});
