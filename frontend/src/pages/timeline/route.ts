import { createRoute } from "@tanstack/react-router";
import { CATEGORIES, EVENT_TYPES } from "@/pages/timeline/kinds";
import { day, given, oneOf, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

function filters(search: Record<string, unknown>) {
  return given(search, {
    about: oneOf(CATEGORIES, search["about"]),
    kind: oneOf(EVENT_TYPES, search["kind"]),
    butler: text(search["butler"]),
    from: day(search["from"]),
    to: day(search["to"]),
  });
}

export type TimelineSearch = ReturnType<typeof filters>;

export const timeline = createRoute({
  getParentRoute: () => root,
  path: "/memory/timeline",
  validateSearch: filters,
  component: page(() => import("@/pages/timeline/Timeline")),
});
