import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "@/shell/root";

export const overview = createRoute({
  getParentRoute: () => root,
  path: "/memory",
  component: lazyRouteComponent(() => import("@/pages/overview/Overview")),
});
