import { createRoute } from "@tanstack/react-router";
import { given, text, uuid } from "@/shell/filters";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

function filters(search: Record<string, unknown>) {
  return given(search, {
    butler: text(search["butler"]),
    /** The one that is explained; the list where there is none. */
    receipt: uuid(search["receipt"]),
  });
}

export const contexts = createRoute({
  getParentRoute: () => root,
  path: "/memory/contexts",
  validateSearch: filters,
  component: page(() => import("@/pages/contexts/Contexts")),
});
