import { createRoute } from "@tanstack/react-router";
import { given, number, text } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

function filters(search: Record<string, unknown>) {
  return given(search, {
    q: text(search["q"]),
    min_relevance: number(search["min_relevance"], 0, 1),
  });
}

export type AskSearch = ReturnType<typeof filters>;

export const ask = createRoute({
  getParentRoute: () => root,
  path: "/memory/ask",
  validateSearch: filters,
  component: page(() => import("@/pages/ask/Ask")),
});
