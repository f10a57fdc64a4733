import { createRoute } from "@tanstack/react-router";
import { day, given } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

function filters(search: Record<string, unknown>) {
  return given(search, { from: day(search["from"]), to: day(search["to"]) });
}

export type ChangesSearch = ReturnType<typeof filters>;

export const changes = createRoute({
  getParentRoute: () => root,
  path: "/memory/changes",
  validateSearch: filters,
  component: page(() => import("@/pages/changes/Changes")),
});
