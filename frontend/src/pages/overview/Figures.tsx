import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { expiredEpisodes } from "@/pages/overview/queries";
import { PERMANENCES, MATURITIES } from "@/shell/vocabulary";
import { SERIES, StackedBar, type Part } from "@/ui/charts";
import { count, plural, words } from "@/ui/format";
import { Skeleton } from "@/ui/Skeleton";

type Stats = Schemas["StatsOutput"];

/** The four figures at the top: facts, rules, episodes, and what fades. */
export function Figures({ stats }: { stats: Stats | undefined }) {
  return (
    <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
      <Figure
        title="Active facts"
        to="/memory/facts"
        value={stats && stats.facts.active + stats.facts.fading}
      >
        {stats && <StackedBar label="Facts by permanence" parts={byPermanence(stats)} />}
      </Figure>
      <Figure
        title="Rules"
        to="/memory/rules"
        value={stats && MATURITIES.reduce((sum, one) => sum + stats.rules[one], 0)}
      >
        {stats && <StackedBar label="Rules by maturity" parts={byMaturity(stats)} />}
      </Figure>
      <Figure title="Episodes" to="/memory/episodes" value={stats?.episodes.total}>
        {stats && <StackedBar label="Episodes by state" parts={byState(stats)} />}
        {stats && <Expired total={stats.episodes.total} />}
      </Figure>
      <Figure
        title="Fading facts"
        to="/memory/facts"
        search={{ show: "fading" }}
        value={stats?.facts.fading}
      >
        {stats && <Fading stats={stats} />}
      </Figure>
    </div>
  );
}

interface FigureProps {
  title: string;
  /** The list that it counts. */
  to: LinkProps["to"];
  search?: LinkProps["search"];
  value: number | undefined;
  children: ReactNode;
}

function Figure({ title, to, search, value, children }: FigureProps) {
  return (
    <section aria-label={title} className="min-w-0 rounded-xl border bg-surface p-5 shadow-card">
      <h2 className="text-sm text-ink-2">
        <Link
          to={to}
          {...(search && { search })}
          className="rounded hover:text-ink hover:underline"
        >
          {title}
        </Link>
      </h2>
      {value === undefined ? (
        <>
          <Skeleton className="mt-1 h-8 w-20" />
          <Skeleton className="mt-4 h-33 w-full" />
        </>
      ) : (
        <>
          <p className="mt-1 mb-4 text-2xl font-semibold tracking-tight tabular-nums">
            {count(value)}
          </p>
          {children}
        </>
      )}
    </section>
  );
}

/** Expired ones are counted until the cleanup deletes them, and have a list of their own. */
function Expired({ total }: { total: number }) {
  const { data: expired } = useQuery(expiredEpisodes);
  if (!expired) return null;
  return (
    <p className="mt-3 text-sm text-ink-2">
      {count(total - expired)} active,{" "}
      <Link
        to="/memory/episodes"
        search={{ show: "expired" }}
        className="font-medium text-accent-ink hover:underline"
      >
        {count(expired)} expired
      </Link>
    </p>
  );
}

function Fading({ stats }: { stats: Stats }) {
  return stats.facts.fading === 0 ? (
    <p className="text-sm text-ink-2">
      Everything known is either fresh or was confirmed in time. A fact that nobody confirms loses
      confidence, fades below 20&nbsp;%, and expires below 5&nbsp;%.
    </p>
  ) : (
    <p className="text-sm text-ink-2">
      {plural(stats.facts.fading, "fact")} fell below 20&nbsp;% confidence and will expire below
      5&nbsp;%, unless somebody confirms {stats.facts.fading === 1 ? "it" : "them"}.
    </p>
  );
}

function byPermanence({ facts }: Stats): Part[] {
  return PERMANENCES.map((one, index) => ({
    name: one,
    label: one,
    value: facts.by_permanence[one] ?? 0,
    color: SERIES[index]!,
  }));
}

function byMaturity({ rules }: Stats): Part[] {
  const colors = {
    proven: "chart-1",
    established: "chart-2",
    candidate: "chart-5",
    anti_pattern: "bad",
  } as const;
  return MATURITIES.map((one) => ({
    name: words(one),
    label: words(one),
    value: rules[one],
    color: colors[one],
  }));
}

function byState({ episodes }: Stats): Part[] {
  return [
    { name: "consolidated", label: "consolidated", value: episodes.consolidated, color: "good" },
    { name: "waiting", label: "waiting", value: episodes.unconsolidated, color: "chart-2" },
    { name: "failed", label: "failed", value: episodes.failed, color: "warn" },
    { name: "dead letters", label: "dead letters", value: episodes.dead_letter, color: "bad" },
  ];
}
