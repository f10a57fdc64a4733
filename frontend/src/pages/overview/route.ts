import { createRoute } from "@tanstack/react-router";
import { given, oneOf, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";
import { MEMORY_TYPES, PERMANENCES } from "@/shell/vocabulary";

function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    type: oneOf(MEMORY_TYPES, search["type"]),
    permanence: oneOf(PERMANENCES, search["permanence"]),
    scope: text(search["scope"]),
  });
}

export type OverviewSearch = ReturnType<typeof filters>;

export const overview = createRoute({
  getParentRoute: () => root,
  path: "/memory",
  validateSearch: filters,
  component: page(() => import("@/pages/overview/Overview")),
});
