import { createRoute, redirect } from "@tanstack/react-router";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

export const inbox = createRoute({
  getParentRoute: () => root,
  path: "/memory/inbox",
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
