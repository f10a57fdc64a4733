import { createRootRoute } from "@tanstack/react-router";
import { ErrorPage } from "@/shell/ErrorPage";
import { parseOpened, type Opened } from "@/shell/opened";
import { Frame } from "@/shell/Frame";
import { parsePast, type PastSearch } from "@/shell/past";

/** The parent of every page. */
export const root = createRootRoute({
  validateSearch: (search: Record<string, unknown>): { open?: Opened | undefined } & PastSearch => {
    // Unset rather than left out: the router would keep what the address says.
    return { open: parseOpened(search["open"]), ...parsePast(search) };
  },
  component: Frame,
  errorComponent: ErrorPage,
});
