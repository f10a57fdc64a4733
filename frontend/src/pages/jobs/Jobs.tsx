import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock, TriangleAlert } from "lucide-react";
import { Consolidations } from "@/pages/jobs/Consolidations";
import { Planned } from "@/pages/jobs/Planned";
import { runJob, schedule, type Job } from "@/pages/jobs/queries";
import { Runs } from "@/pages/jobs/Runs";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

export default function Jobs() {
  const queries = useQueryClient();
  const { data } = useQuery(schedule);
  const running = useMutation({
    mutationFn: ({ job, dryRun }: { job: Job; dryRun: boolean }) => runJob(job, dryRun),
    // A job changes whatever the other pages show.
    onSuccess: () => queries.invalidateQueries(),
  });
  return (
    <Page
      title="Jobs"
      lead="Scheduled work: learn from episodes, expire what has faded, and clean up."
    >
      {!data ? (
        <SkeletonRows rows={6} className="h-16" />
      ) : (
        <div className="space-y-4">
          {data.expiring_unread > 0 && (
            <p
              role="note"
              className="flex items-center gap-2 rounded-lg bg-warn-soft px-4 py-3 text-warn-ink [&_svg]:size-4 [&_svg]:shrink-0"
            >
              <TriangleAlert aria-hidden />
              <span>
                {plural(data.expiring_unread, "episode")} will expire within 48 hours without having
                been consolidated.{" "}
                <Link to="/memory/episodes" search={{ show: "pending" }} className="underline">
                  Show what waits
                </Link>
              </span>
            </p>
          )}
          <Planned schedule={data} running={running} />
          {data.consolidations.length + data.runs.length === 0 ? (
            <EmptyState icon={Clock} title="Nothing has run yet">
              What ran, when, and how it went will be listed here.
            </EmptyState>
          ) : (
            <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
              <Consolidations runs={data.consolidations} />
              <Runs runs={data.runs} />
            </div>
          )}
        </div>
      )}
    </Page>
  );
}
