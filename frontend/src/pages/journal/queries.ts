import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, asked, type Schemas } from "@/api/client";

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
  ...asked(["journal", "companions"], "/api/journal/companions"),
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
    ...asked(["journal", companion, "latest"], "/api/journal/{companion}/events", {
      path: { companion },
      query: { limit: EVENTS },
    }),
    refetchInterval: LOOK_AGAIN_MILLISECONDS,
  });
}

/** Messages of the whole conversation that are about something, best match first. */
export function found(companion: string, question: string) {
  return queryOptions({
    ...asked(["journal", companion, "found", question], "/api/journal/{companion}/search", {
      path: { companion },
      query: { question },
    }),
    select: (data) => data.found,
    placeholderData: keepPreviousData,
  });
}

export function mind(companion: string, past?: Known) {
  return asked(["journal", companion, "mind", past?.known_at], "/api/journal/{companion}/mind", {
    path: { companion },
    query: { past: PAST, ...then(past) },
  });
}

export function fragments(companion: string, past?: Known) {
  return asked(
    ["journal", companion, "fragments", past?.known_at],
    "/api/journal/{companion}/fragments",
    { path: { companion }, query: then(past) },
  );
}

export function fragment(companion: string, key: string, past?: Known) {
  return asked(
    ["journal", companion, "fragment", key, past?.known_at],
    "/api/journal/{companion}/fragment",
    { path: { companion }, query: { key, ...then(past) } },
  );
}

export function prompt(companion: string, past?: Known) {
  return asked(
    ["journal", companion, "prompt", past?.known_at],
    "/api/journal/{companion}/prompt",
    { path: { companion }, query: { ...then(past), secrets: false } },
  );
}

export function runs(companion: string) {
  return asked(["journal", companion, "runs"], "/api/journal/{companion}/runs", {
    path: { companion },
    query: { limit: RUNS },
  });
}

/** What the runs of the last seven days changed. */
export function learned(companion: string) {
  return asked(["journal", companion, "learned"], "/api/journal/{companion}/learned", {
    path: { companion },
  });
}

export function run(companion: string, id: number) {
  return asked(["journal", companion, "run", id], "/api/journal/{companion}/runs/{run_id}", {
    path: { companion, run_id: id },
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
