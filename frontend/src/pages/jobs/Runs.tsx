import { Figures } from "@/pages/jobs/Detail";
import type { JobRun } from "@/pages/jobs/queries";
import { RunStatus } from "@/pages/jobs/RunStatus";
import { Card } from "@/ui/Card";
import { words } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";

/** The latest runs of the schedule, by any server. */
export function Runs({ runs }: { runs: readonly JobRun[] }) {
  return (
    <Card title="Scheduled runs" note="The latest, of all servers">
      {runs.length === 0 ? (
        <p className="text-ink-2">None yet.</p>
      ) : (
        <ul className="divide-y">
          {runs.map((one) => (
            <li key={`${one.job} ${one.scheduled_for}`} className="py-2.5 first:pt-0 last:pb-0">
              <p className="flex items-center justify-between gap-2">
                <span className="flex items-center gap-2">
                  <span className="font-medium">{words(one.job)}</span>
                  <RunStatus status={one.status} />
                </span>
                <span className="text-xs text-ink-3">
                  <TimeAgo at={one.started_at} />
                </span>
              </p>
              <div className="mt-1 text-xs">
                {one.finished_at && <Figures detail={one.detail} />}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
