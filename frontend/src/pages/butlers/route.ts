import { createRoute } from "@tanstack/react-router";
import { filters } from "@/pages/facts/route";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

export const butlers = createRoute({
  getParentRoute: () => root,
  path: "/butlers",
  component: page(() => import("@/pages/butlers/Butlers")),
});

export const butler = createRoute({
  getParentRoute: () => root,
  path: "/butlers/$butler",
  component: page(() => import("@/pages/butlers/Butler")),
});

export const butlerMemory = createRoute({
  getParentRoute: () => root,
  path: "/butlers/$butler/memory",
  // Of its facts: the same as on the page of all facts.
  validateSearch: filters,
  component: page(() => import("@/pages/butlers/ButlerMemory")),
});
