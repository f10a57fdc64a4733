import { createRoute } from "@tanstack/react-router";
import { given, number, text, uuid } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

// The most that the API takes.
const MOST_TOKENS = 1_000_000;

function filters(search: Record<string, unknown>) {
  return given(search, {
    prompt: text(search["prompt"]),
    butler: text(search["butler"]),
    budget: number(search["budget"], 0, MOST_TOKENS),
    /** The memory that the block is looked at without. */
    without: uuid(search["without"]),
  });
}

export type PlaygroundSearch = ReturnType<typeof filters>;

export const playground = createRoute({
  getParentRoute: () => root,
  path: "/memory/recall",
  validateSearch: filters,
  component: page(() => import("@/pages/playground/Playground")),
});
