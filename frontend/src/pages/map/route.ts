import { createRoute } from "@tanstack/react-router";
import { given, oneOf, text, uuid } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

/** How many entities are drawn; without a choice the first. */
export const LIMITS = ["500", "1000", "2000"] as const;

function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    limit: oneOf(LIMITS, search["limit"]),
    from: uuid(search["from"]),
    to: uuid(search["to"]),
  });
}

export type MapSearch = ReturnType<typeof filters>;

export const map = createRoute({
  getParentRoute: () => root,
  path: "/memory/map",
  validateSearch: filters,
  component: page(() => import("@/pages/map/MemoryMap")),
});
