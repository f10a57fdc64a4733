import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";

export type JournalEvent = Schemas["JournalEvent"];
export type WorkingItem = Schemas["WorkingItem"];
export type FragmentNode = Schemas["FragmentNode"];
export type FragmentEdge = Schemas["FragmentEdge"];
export type FragmentChange = Schemas["FragmentChange"];
export type MaintenanceRun = Schemas["MaintenanceRun"];
export type UpkeepView = Schemas["UpkeepView"];
export type LearnedChange = Schemas["LearnedChange"];
export type PromptPart = Schemas["PromptPart"];

const EVENTS = 50;
const PAST = 20;
const RUNS = 30;

export const companions = queryOptions({
  queryKey: ["journal", "companions"],
  queryFn: ({ signal }) => answer(api.GET("/api/journal/companions", { signal })),
  select: (found) => found.companions,
});

/** A companion in a list to choose from; one that cannot be read says so. */
export const companionOption = (one: { name: string; problem?: string | null }) => ({
  value: one.name,
  label: one.problem ? `${one.name} (cannot be read)` : one.name,
});

/** What was known at a moment, of what can be looked back at; a journal has no other axis. */
type Known = { known_at?: string | undefined } | undefined;

const then = (past: Known) => ({ known_at: past?.known_at });

export interface StreamFilters {
  actor?: string | undefined;
  tag?: string | undefined;
}

export function stream(companion: string, filters: StreamFilters, past?: Known) {
  return infiniteQueryOptions({
    queryKey: ["journal", companion, "stream", filters, past?.known_at],
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/journal/{companion}/events", {
          signal,
          params: {
            path: { companion },
            query: {
              ...filters,
              ...then(past),
              limit: EVENTS,
              ...(pageParam !== null && { before: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });
}

// What another window or a terminal says comes by itself.
const LOOK_AGAIN_MILLISECONDS = 5_000;

/** The newest page of the stream, read again every few seconds. */
export function latest(companion: string) {
  return queryOptions({
    queryKey: ["journal", companion, "latest"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/events", {
          signal,
          params: { path: { companion }, query: { limit: EVENTS } },
        }),
      ),
    refetchInterval: LOOK_AGAIN_MILLISECONDS,
  });
}

/** Messages of the whole conversation that are about something, best match first. */
export function found(companion: string, question: string) {
  return queryOptions({
    queryKey: ["journal", companion, "found", question],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/search", {
          signal,
          params: { path: { companion }, query: { question } },
        }),
      ),
    select: (data) => data.found,
    placeholderData: keepPreviousData,
  });
}

export function mind(companion: string, past?: Known) {
  return queryOptions({
    queryKey: ["journal", companion, "mind", past?.known_at],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/mind", {
          signal,
          params: { path: { companion }, query: { past: PAST, ...then(past) } },
        }),
      ),
  });
}

export function fragments(companion: string, past?: Known) {
  return queryOptions({
    queryKey: ["journal", companion, "fragments", past?.known_at],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/fragments", {
          signal,
          params: { path: { companion }, query: then(past) },
        }),
      ),
  });
}

export function fragment(companion: string, key: string, past?: Known) {
  return queryOptions({
    queryKey: ["journal", companion, "fragment", key, past?.known_at],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/fragment", {
          signal,
          params: { path: { companion }, query: { key, ...then(past) } },
        }),
      ),
  });
}

export function prompt(companion: string, past?: Known) {
  return queryOptions({
    queryKey: ["journal", companion, "prompt", past?.known_at],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/prompt", {
          signal,
          params: { path: { companion }, query: { ...then(past), secrets: false } },
        }),
      ),
  });
}

export function runs(companion: string) {
  return queryOptions({
    queryKey: ["journal", companion, "runs"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/runs", {
          signal,
          params: { path: { companion }, query: { limit: RUNS } },
        }),
      ),
  });
}

/** What the runs of the last seven days changed. */
export function learned(companion: string) {
  return queryOptions({
    queryKey: ["journal", companion, "learned"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/learned", { signal, params: { path: { companion } } }),
      ),
  });
}

export function run(companion: string, id: number) {
  return queryOptions({
    queryKey: ["journal", companion, "run", id],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/journal/{companion}/runs/{run_id}", {
          signal,
          params: { path: { companion, run_id: id } },
        }),
      ),
  });
}

/** Lets the server's model compile what was said; a dry run only tells what it would do. */
export function compile(companion: string, dryRun: boolean) {
  return answer(
    api.POST("/api/journal/{companion}/runs", {
      params: { path: { companion } },
      body: { run_type: "manual", dry_run: dryRun },
    }),
  );
}

/** Whether the server has a model of its own, for consolidation and for the journal alike. */
export const languageModel = queryOptions({
  queryKey: ["jobs", "model"],
  queryFn: ({ signal }) => answer(api.GET("/api/memory/jobs", { signal })),
  select: (schedule) => schedule.language_model,
});
