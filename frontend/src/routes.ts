import { createRoute, redirect } from "@tanstack/react-router";
import { overview } from "@/pages/overview/route";
import { root } from "@/shell/root";

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/memory" });
  },
});

/** Every page; each brings its own route from its folder. */
export const routes = root.addChildren([start, overview]);
