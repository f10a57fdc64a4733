import type { UseMutationResult } from "@tanstack/react-query";
import { FlaskConical, Play } from "lucide-react";
import { Figures } from "@/pages/jobs/Detail";
import type { Job, Outcome, Schedule } from "@/pages/jobs/queries";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { Code } from "@/ui/EmptyState";
import { TimeAgo } from "@/ui/TimeAgo";

// A job without a line here is an error of types.
const JOBS: Record<Job, { title: string; does: string }> = {
  consolidate: {
    title: "Consolidation",
    does: "Asks the language model what the waiting episodes teach, and checks its answer.",
  },
  decay_sweep: {
    title: "Decay sweep",
    does: "Marks facts and rules that fade, expires those that faded too far, and turns rules that do harm into warnings.",
  },
  episode_cleanup: {
    title: "Episode cleanup",
    does: "Deletes expired episodes.",
  },
};

interface PlannedProps {
  schedule: Schedule;
  running: UseMutationResult<Outcome, Error, { job: Job; dryRun: boolean }>;
}

/** Each job: what it does, when it runs next, and a way to run it now. */
export function Planned({ schedule, running }: PlannedProps) {
  return (
    <Card
      title="Schedule"
      note={
        schedule.enabled
          ? "Whichever server is running does it. A run that was missed is made up for once."
          : "Turned off in this server's configuration; jobs run only when asked."
      }
    >
      <ul className="divide-y">
        {schedule.planned.map(({ job, ...when }) => (
          <li
            key={job}
            className="flex flex-wrap items-start gap-x-4 gap-y-3 py-4 first:pt-0 last:pb-0"
          >
            <div className="min-w-0 flex-1 basis-72">
              <p className="flex flex-wrap items-center gap-2">
                <span className="font-medium">{JOBS[job].title}</span>
                {schedule.enabled ? <When {...when} /> : <Badge>not planned</Badge>}
              </p>
              <p className="mt-0.5 text-ink-2">{JOBS[job].does}</p>
              {job === "consolidate" && <Model name={schedule.language_model} />}
              {running.variables?.job === job && <Result running={running} />}
            </div>
            <div className="flex gap-2">
              {[true, false].map((dryRun) => (
                <Button
                  key={String(dryRun)}
                  small
                  disabled={running.isPending}
                  aria-label={`${dryRun ? "Dry run" : "Run now"}: ${JOBS[job].title.toLowerCase()}`}
                  busy={
                    running.isPending &&
                    running.variables.job === job &&
                    running.variables.dryRun === dryRun
                  }
                  onClick={() => running.mutate({ job, dryRun })}
                >
                  {dryRun ? <FlaskConical /> : <Play />} {dryRun ? "Dry run" : "Run now"}
                </Button>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function When({ cron, next_run }: { cron: string; next_run: string }) {
  return (
    <span className="text-sm text-ink-3" title={`cron: ${cron}`}>
      next <TimeAgo at={next_run} />
    </span>
  );
}

function Model({ name }: { name: string | null }) {
  return (
    <p className="mt-1 text-sm text-ink-3">
      {name ? (
        <>
          by <Code>{name}</Code>
        </>
      ) : (
        <>
          No language model is configured, so it only counts. <Code>memory-butler doctor</Code> says
          how to add one.
        </>
      )}
    </p>
  );
}

/** A run without a model counts what waits, whatever was asked for. */
function toldOf({ dry_run, detail }: Outcome): [string, Outcome["detail"]] {
  if (dry_run) return ["It would do this; nothing was changed.", detail];
  if (detail["dry_run"] !== true) return ["Done.", detail];
  return ["Nothing was learned: no language model is configured.", { waiting: detail["waiting"] }];
}

function Result({ running }: Pick<PlannedProps, "running">) {
  const [said, figures] = running.data ? toldOf(running.data) : [];
  return (
    <div role="status" className="mt-3 rounded-lg bg-sunken px-3 py-2 text-sm">
      {running.isPending && <p className="text-ink-2">Under way…</p>}
      {running.error && <p className="text-bad-ink">{running.error.message}</p>}
      {figures && (
        <>
          <p className="mb-1 font-medium">{said}</p>
          <Figures detail={figures} />
        </>
      )}
    </div>
  );
}
