import "@/styles.css";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "@/api/problem";
import { routes } from "@/routes";
import { ErrorPage } from "@/shell/ErrorPage";
import { NotFound } from "@/shell/NotFound";
import { parseSearch, stringifySearch } from "@/shell/search";
import { toastError } from "@/ui/toasts";

// What the server refused, it refuses again; what could not be reached, the banner asks for anew.
const RETRIES = 0;

const queries = new QueryClient({
  queryCache: new QueryCache(),
  defaultOptions: {
    queries: { retry: RETRIES, staleTime: 5_000, throwOnError: hasNothingToShow },
    mutations: { onError: (error) => toastError(error) },
  },
});

/** An error takes the page only where there is nothing older to show, and nobody is merely away. */
function hasNothingToShow(error: Error, query: { state: { data: unknown } }): boolean {
  if (error instanceof ApiError && (error.isAway || error.isOfAnother)) return false;
  return query.state.data === undefined;
}

const router = createRouter({
  routeTree: routes,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  // Within the shell: from a page that failed one can go on to another.
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: () => <NotFound />,
  scrollRestoration: true,
  defaultViewTransition: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
