import createClient from "openapi-fetch";
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
