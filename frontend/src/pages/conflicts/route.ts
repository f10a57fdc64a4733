import { createRoute } from "@tanstack/react-router";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

export const conflicts = createRoute({
  getParentRoute: () => root,
  path: "/memory/conflicts",
  component: page(() => import("@/pages/conflicts/Conflicts")),
});
