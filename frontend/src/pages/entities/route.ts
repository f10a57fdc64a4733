import { createRoute } from "@tanstack/react-router";
import { given, oneOf, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";
import { ENTITY_TYPES } from "@/shell/vocabulary";

/** What the tabs show: who is known, who was merged away, and a place to try names. */
export const SHOWN = ["known", "merged", "resolve"] as const;

function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    entity_type: oneOf(ENTITY_TYPES, search["entity_type"]),
    show: oneOf(SHOWN, search["show"]),
    name: text(search["name"]),
    topic: text(search["topic"]),
    fuzzy: oneOf(["yes"] as const, search["fuzzy"]),
  });
}

export type EntitiesSearch = ReturnType<typeof filters>;

export const entities = createRoute({
  getParentRoute: () => root,
  path: "/memory/entities",
  validateSearch: filters,
  component: page(() => import("@/pages/entities/Entities")),
});
