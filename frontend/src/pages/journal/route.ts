import { createRoute } from "@tanstack/react-router";
import { given, oneOf, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

export const TABS = ["stream", "mind", "fragments", "learned", "prompt", "maintenance"] as const;
export type JournalTab = (typeof TABS)[number];

function filters(search: Record<string, unknown>) {
  return given(search, {
    companion: text(search["companion"]),
    tab: oneOf(TABS, search["tab"]),
    /** Of the stream: who spoke. */
    actor: text(search["actor"]),
    /** Of the stream: a tag that the message has. */
    tag: text(search["tag"]),
    /** Of the fragments: the key of the one that is looked at. */
    fragment: text(search["fragment"]),
  });
}

export type JournalSearch = ReturnType<typeof filters>;

export const journal = createRoute({
  getParentRoute: () => root,
  path: "/journal",
  validateSearch: filters,
  component: page(() => import("@/pages/journal/Journal")),
});
