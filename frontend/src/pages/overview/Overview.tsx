import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { arriving } from "@/api/arriving";
import { Calibration } from "@/pages/overview/Calibration";
import { Damage } from "@/pages/overview/Damage";
import { Feed } from "@/pages/overview/Feed";
import { Figures } from "@/pages/overview/Figures";
import { Found } from "@/pages/overview/Found";
import { Health } from "@/pages/overview/Health";
import { activity, isNew, statistics, trends } from "@/pages/overview/queries";
import type { OverviewSearch } from "@/pages/overview/route";
import { MEMORY_TYPES, PERMANENCES } from "@/shell/vocabulary";
import { choices, Select, SearchBox } from "@/ui/Field";
import { Page } from "@/ui/Page";

// Seen by few visits: those of a memory that has just begun.
const FirstSteps = lazy(arriving(() => import("@/pages/overview/FirstSteps")));

const route = getRouteApi("/memory");

export default function Overview() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<OverviewSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  return (
    <Page
      title="Overview"
      lead="What your agents know, how sure they are of it, and what is fading."
    >
      <div className="mb-5 flex flex-wrap gap-2" role="search">
        <SearchBox
          label="Search everything"
          placeholder="Search everything, in your own words"
          value={search.q ?? ""}
          onChange={(q) => change({ q })}
          className="min-w-64 flex-1"
          slash
        />
        {search.q && (
          <>
            <Select
              label="Type"
              any="Any type"
              value={search.type}
              onChange={(type) => change({ type })}
              options={choices(MEMORY_TYPES)}
            />
            <Select
              label="Permanence"
              any="Any permanence"
              value={search.permanence}
              onChange={(permanence) => change({ permanence })}
              options={choices(PERMANENCES)}
            />
            <SearchBox
              label="Scope"
              placeholder="Any scope"
              value={search.scope ?? ""}
              onChange={(scope) => change({ scope })}
              className="w-40"
            />
          </>
        )}
      </div>
      {search.q ? <Found search={search} /> : <AtAGlance />}
    </Page>
  );
}

function AtAGlance() {
  const { data: stats } = useQuery(statistics);
  const { data: feed } = useQuery(activity);
  const trend = useQuery(trends);
  return (
    <div className="space-y-4">
      <Damage />
      <Suspense>{stats && isNew(stats) && <FirstSteps stats={stats} />}</Suspense>
      <Figures stats={stats} />
      <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="space-y-4">
          <Health stats={stats} trends={trend} />
          <Calibration />
        </div>
        <Feed events={feed?.items} />
      </div>
    </div>
  );
}
