import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  type QueryKey,
} from "@tanstack/react-query";
import createClient, { type ClientPathsWithMethod, type MethodResponse } from "openapi-fetch";
import { ApiError, problemOf } from "@/api/problem";
import { reportAway } from "@/api/reachability";
import type { components, paths } from "@/api/schema";
import { asShown } from "@/api/tenant";

export type Schemas = components["schemas"];

const client = createClient<paths>({ baseUrl: window.location.origin, credentials: "same-origin" });

/** The API, typed by its OpenAPI document: `answer(api.GET("/api/memory/stats"))`. */
export const api = client;

interface Outcome<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

client.use({
  onRequest({ request, schemaPath }) {
    if (schemaPath === "/api/session") return;
    for (const [name, value] of Object.entries(asShown())) request.headers.set(name, value);
  },
  async onResponse({ response }) {
    if (response.ok || response.status === 304) return;
    const problem = await problemOf(response);
    if (problem.status === 503 && problem.isAway) reportAway("database");
    if (problem.code === "other_tenant") reportAway("tenant");
    if (problem.status !== 401) throw problem;
    window.dispatchEvent(new Event(SIGNED_OUT));
    // The server's words are for programs.
    throw new ApiError(
      401,
      problem.code,
      "You are signed out. Sign in in another tab, then try again.",
    );
  },
  onError({ error }) {
    if (error instanceof ApiError || (error instanceof DOMException && error.name === "AbortError"))
      return;
    reportAway("server");
    return new ApiError(0, "unreachable", "The server does not answer.");
  },
});

/** Told to the window when a request met a missing, wrong or expired token. */
export const SIGNED_OUT = "signed-out";

/**
 * The body of an answer.
 *
 * @throws ApiError for every answer but a success.
 */
export async function answer<Data>(request: Promise<Outcome<Data>>): Promise<Data> {
  const { data } = await request;
  return data as Data;
}

type Path = ClientPathsWithMethod<typeof client, "get">;
type Parameters<One extends Path> = paths[One]["get"]["parameters"];
type Ask<One extends Path> = (
  path: One,
  init: { signal: AbortSignal; params: Parameters<One> | undefined },
) => Promise<Outcome<MethodResponse<typeof client, "get", One>>>;
// They are left out where nothing must be given, such as an id in the path.
type Given<One extends Path> =
  Parameters<One> extends { path: unknown } | { query: unknown }
    ? [params: Parameters<One>]
    : [params?: Parameters<One>];

/** A query of what the API answers to a GET: `asked(["butlers"], "/api/butlers")`. */
export function asked<One extends Path>(queryKey: QueryKey, path: One, ...given: Given<One>) {
  const [params] = given;
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => answer((client.GET as Ask<One>)(path, { signal, params })),
  });
}

/** The same of a list, part by part; `params` are those of the part that begins at an offset. */
export function listed<One extends Path>(
  queryKey: QueryKey,
  path: One,
  params: (offset: number) => Parameters<One>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) =>
      answer((client.GET as Ask<One>)(path, { signal, params: params(pageParam) })),
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const { offset, total, items } = last as Part;
      const next = offset + items.length;
      return next < total && items.length > 0 ? next : undefined;
    },
    placeholderData: keepPreviousData,
  });
}

/** A part of a list, as every list of the API answers. */
interface Part {
  offset: number;
  total: number;
  items: readonly unknown[];
}
