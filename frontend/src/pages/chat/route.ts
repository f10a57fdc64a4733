import { createRoute } from "@tanstack/react-router";
import { given, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

// As the server has it: other names could not be talked with.
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

function filters(search: Record<string, unknown>) {
  const wanted = text(search["companion"]);
  return given(search, {
    companion: wanted && NAME.test(wanted) ? wanted : undefined,
    /** What is searched for in the conversation. */
    q: text(search["q"]),
  });
}

export const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: filters,
  component: page(() => import("@/pages/chat/Chat")),
});
