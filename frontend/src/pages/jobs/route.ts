import { createRoute } from "@tanstack/react-router";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

export const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  component: page(() => import("@/pages/jobs/Jobs")),
});
