import { createRoute } from "@tanstack/react-router";
import { given, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

function filters(search: Record<string, unknown>) {
  return given(search, { companion: text(search["companion"]) });
}

export const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: filters,
  component: page(() => import("@/pages/chat/Chat")),
});
