import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { NoModel } from "@/memory/NoModel";
import { PERMANENCES } from "@/shell/vocabulary";
import { Card } from "@/ui/Card";
import { Histogram, LineChart, SERIES, type Series } from "@/ui/charts";
import { confidenceTone } from "@/ui/Bars";
import { count, percent, plural } from "@/ui/format";
import { Skeleton } from "@/ui/Skeleton";

type Stats = Schemas["StatsOutput"];
type Trends = Schemas["TrendsOutput"];

interface HealthProps {
  stats: Stats | undefined;
  trends: UseQueryResult<Trends>;
}

/** How sure memory is, what waits, and whether rules help (DASH-13). */
export function Health({ stats, trends: { data: trends } }: HealthProps) {
  return (
    <>
      <Card title="Facts over time" note="What was known at the end of each day, by permanence">
        {!trends ? (
          <Skeleton className="h-56 w-full" />
        ) : trends.permanence.length === 0 ? (
          <p className="text-ink-2">No fact was stored yet.</p>
        ) : (
          <LineChart label="Active facts by permanence" stacked {...byDay(trends)} />
        )}
      </Card>
      <div className="grid gap-4 sm:grid-cols-2">
        <Card title="Confidence" note="Active facts by effective confidence">
          {trends ? (
            <Histogram
              label="Active facts by effective confidence"
              values={trends.confidence}
              tone={confidenceTone}
            />
          ) : (
            <Skeleton className="h-40 w-full" />
          )}
        </Card>
        <Card title="Rules that help" note="Rules ever applied, by effectiveness">
          {trends ? (
            <Histogram
              label="Applied rules by effectiveness"
              values={trends.effectiveness}
              tone={(value) => (value >= 0.6 ? "good" : value >= 0.3 ? "warn" : "bad")}
            />
          ) : (
            <Skeleton className="h-40 w-full" />
          )}
        </Card>
      </div>
      {stats ? <Backlog stats={stats} /> : <Skeleton className="h-28 w-full" />}
    </>
  );
}

function Backlog({ stats: { episodes, rules } }: { stats: Stats }) {
  const { applied, helping, mean_effectiveness: mean } = rules.effectiveness;
  const age = episodes.backlog_age_hours;
  return (
    <Card title="Backlog" note="Episodes that wait for consolidation">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Figure name="Waiting">{count(episodes.unconsolidated)}</Figure>
        <Figure name="The oldest waits">{age == null ? "–" : waited(age)}</Figure>
        <Figure name="Rules that help">
          {applied === 0 ? "–" : `${count(helping)} of ${count(applied)}`}
        </Figure>
        <Figure name="Mean effectiveness">{mean == null ? "–" : percent(mean)}</Figure>
      </dl>
      {episodes.unconsolidated > 0 && <NoModel />}
    </Card>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-sm text-ink-3">{name}</dt>
      <dd className="mt-0.5 text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  );
}

function waited(hours: number): string {
  if (hours < 1) return "under an hour";
  return hours < 48 ? plural(Math.floor(hours), "hour") : plural(Math.floor(hours / 24), "day");
}

/** A series for each permanence, a value for each day. */
function byDay({ permanence }: Trends): { dates: string[]; series: Series[] } {
  const dates = [...new Set(permanence.map((one) => one.day))].toSorted();
  const known = new Map(permanence.map((one) => [`${one.day} ${one.permanence}`, one.facts]));
  const series = PERMANENCES.map((name, index) => ({
    name,
    color: SERIES[index]!,
    values: dates.map((day) => known.get(`${day} ${name}`) ?? 0),
  }));
  return { dates, series };
}
