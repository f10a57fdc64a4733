import { createRoute, redirect } from "@tanstack/react-router";
import { given, oneOf } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

/** The kinds of decisions, as they are counted above the list. */
export const KINDS = ["contradiction", "waiting", "duplicate", "fading", "dead_letter"] as const;

export const inbox = createRoute({
  getParentRoute: () => root,
  path: "/memory/inbox",
  validateSearch: (search: Record<string, unknown>) =>
    given(search, { kind: oneOf(KINDS, search["kind"]) }),
  component: page(() => import("@/pages/inbox/Inbox")),
});

/** Where the page of conflicts was; links to it still lead somewhere. */
export const conflicts = createRoute({
  getParentRoute: () => root,
  path: "/memory/conflicts",
  beforeLoad: () => {
    throw redirect({ to: "/memory/inbox", replace: true });
  },
});
