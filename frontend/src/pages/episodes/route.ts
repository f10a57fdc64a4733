import { createRoute } from "@tanstack/react-router";
import { day, given, oneOf, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

/** What the tabs show. */
export const SHOWN = [
  "all",
  "pending",
  "consolidated",
  "failed",
  "dead_letter",
  "expired",
] as const;
export const ORDERS = ["oldest", "important"] as const;

function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    butler: text(search["butler"]),
    from: day(search["from"]),
    to: day(search["to"]),
    show: oneOf(SHOWN, search["show"]),
    order: oneOf(ORDERS, search["order"]),
  });
}

export type EpisodesSearch = ReturnType<typeof filters>;

export const episodes = createRoute({
  getParentRoute: () => root,
  path: "/memory/episodes",
  validateSearch: filters,
  component: page(() => import("@/pages/episodes/Episodes")),
});
