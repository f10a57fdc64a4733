import { createRootRoute } from "@tanstack/react-router";
import { ErrorPage } from "@/shell/ErrorPage";
import { NotFound } from "@/shell/NotFound";
import { parseOpened, type Opened } from "@/shell/opened";
import { Frame } from "@/shell/Frame";

/** The parent of every page. */
export const root = createRootRoute({
  validateSearch: (search: Record<string, unknown>): { open?: Opened | undefined } => {
    const open = parseOpened(search["open"]);
    return open ? { open } : {};
  },
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: ErrorPage,
});
