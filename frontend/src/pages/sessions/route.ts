import { createRoute } from "@tanstack/react-router";
import { given, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

function filters(search: Record<string, unknown>) {
  return given(search, { butler: text(search["butler"]) });
}

export type SessionsSearch = ReturnType<typeof filters>;

export const sessions = createRoute({
  getParentRoute: () => root,
  path: "/memory/sessions",
  validateSearch: filters,
  component: page(() => import("@/pages/sessions/Sessions")),
});
