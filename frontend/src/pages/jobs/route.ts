import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "@/shell/root";

export const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  component: lazyRouteComponent(() => import("@/pages/jobs/Jobs")),
});
