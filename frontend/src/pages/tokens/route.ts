import { createRoute } from "@tanstack/react-router";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

export const tokens = createRoute({
  getParentRoute: () => root,
  path: "/tokens",
  component: page(() => import("@/pages/tokens/Tokens")),
});
