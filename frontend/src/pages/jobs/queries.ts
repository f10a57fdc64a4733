import { queryOptions } from "@tanstack/react-query";
import { answer, api, asked, type Schemas } from "@/api/client";

export type Schedule = Schemas["JobsOutput"];
export type JobRun = Schemas["JobRun"];
export type Consolidation = Schemas["ConsolidationRun"];
export type Job = Schemas["RunJobOutput"]["job"];
export type Outcome = Schemas["RunJobOutput"];

const RUNS = 20;
// Jobs write no event, so the page asks again while it is looked at.
const REFRESH_MILLISECONDS = 15_000;

export const schedule = queryOptions({
  ...asked(["jobs"], "/api/memory/jobs", { query: { limit: RUNS } }),
  refetchInterval: REFRESH_MILLISECONDS,
});

export function runJob(job: Job, dryRun: boolean): Promise<Outcome> {
  return answer(
    api.POST("/api/memory/jobs/{job}/run", {
      params: { path: { job } },
      body: { dry_run: dryRun },
    }),
  );
}
