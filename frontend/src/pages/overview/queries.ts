import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, asked, type Schemas } from "@/api/client";
import type { OverviewSearch } from "@/pages/overview/route";
import { timeZone } from "@/shell/days";

// Of the charts over time.
const DAYS = 30;
// Of the feed, which ends in a link to the timeline.
const EVENTS_SHOWN = 12;
// Of a search; more words narrow it better than more pages would.
const RESULTS_SHOWN = 30;
// Episodes have no permanence and the search none to ask for, so that it is chosen here, of as many
// as the API gives.
const MOST = 200;

// Of memories of all kinds; with more, the first steps were taken.
const FEW = 10;

export type Stats = Schemas["StatsOutput"];

/** How many facts and rules there are, in whatever state. */
export function stored({ facts, rules }: Stats): number {
  const states = [facts.active, facts.fading, facts.superseded, facts.expired, facts.retracted];
  const maturities = [rules.candidate, rules.established, rules.proven, rules.anti_pattern];
  const kept = [...states, facts.waiting, ...maturities, rules.forgotten];
  return kept.reduce((sum, one) => sum + one, 0);
}

/** Whether a memory has just begun. */
export function isNew(stats: Stats): boolean {
  return stored(stats) + stats.episodes.total < FEW;
}

export const statistics = asked(["stats"], "/api/memory/stats");

export const trends = queryOptions({
  queryKey: ["trends", DAYS],
  queryFn: ({ signal }) =>
    answer(
      api.GET("/api/memory/trends", {
        signal,
        params: { query: { days: DAYS, time_zone: timeZone() } },
      }),
    ),
});

/** What memory claimed against what came of it, of the last year. */
export const calibration = asked(["calibration"], "/api/memory/calibration");

/** What is wrong with the database although it answers; null: nothing is known to be. */
export const databaseTrouble = queryOptions({
  ...asked(["ready"], "/readyz"),
  select: ({ database }) => (database === "ok" ? null : database),
});

/** How many episodes have expired and are still kept. */
export const expiredEpisodes = queryOptions({
  ...asked(["episodes", "expired", "total"], "/api/memory/episodes", {
    query: { expired: true, limit: 1 },
  }),
  select: ({ total }) => total,
});

export const activity = asked(["activity", EVENTS_SHOWN], "/api/memory/activity", {
  query: { limit: EVENTS_SHOWN },
});

export function found({ q, type, scope, permanence }: OverviewSearch) {
  return queryOptions({
    queryKey: ["search", q, type, scope, permanence],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/search", {
          signal,
          body: {
            query: q ?? "",
            types: type ? [type] : null,
            scope: scope ?? null,
            // Weighs candidates of all types together; by rank, types would only take turns.
            mode: "deep",
            limit: permanence ? MOST : RESULTS_SHOWN,
            min_confidence: 0,
            explain: false,
          },
        }),
      ),
    select: ({ results, good_from: goodFrom }) => {
      const wanted = results
        .filter(
          (one) => !permanence || (one.memory_type !== "episode" && one.permanence === permanence),
        )
        .slice(0, RESULTS_SHOWN);
      const isGood = (one: (typeof results)[number]) => (one.scores?.relevance ?? 1) >= goodFrom;
      return { good: wanted.filter(isGood), weak: wanted.filter((one) => !isGood(one)) };
    },
    enabled: Boolean(q),
    placeholderData: keepPreviousData,
  });
}
