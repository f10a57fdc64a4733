import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "@/shell/root";

export const tokens = createRoute({
  getParentRoute: () => root,
  path: "/tokens",
  component: lazyRouteComponent(() => import("@/pages/tokens/Tokens")),
});
