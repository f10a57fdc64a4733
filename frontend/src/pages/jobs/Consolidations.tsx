import type { Consolidation } from "@/pages/jobs/queries";
import { Figures } from "@/pages/jobs/Detail";
import { UndoButton } from "@/memory/UndoButton";
import { RunStatus } from "@/pages/jobs/RunStatus";
import { by } from "@/shell/events";
import { Card } from "@/ui/Card";
import { Code } from "@/ui/EmptyState";
import { count, plural } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";

const DOLLARS = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
});

/** The latest sessions with a language model: what came of them, and what they cost. */
export function Consolidations({ runs }: { runs: readonly Consolidation[] }) {
  return (
    <Card title="Consolidations" note="What a language model drew from episodes, and what it cost">
      {runs.length === 0 ? (
        <p className="text-ink-2">No model has been asked yet.</p>
      ) : (
        <ul className="divide-y">
          {runs.map((one) => (
            <li key={one.id} className="py-3 first:pt-0 last:pb-0">
              <Line run={one} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Line({ run }: { run: Consolidation }) {
  const tokens = run.tokens_in + run.tokens_out;
  const succeeded = run.status === "succeeded";
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="memory-text font-medium">{run.butler}</span>
        <RunStatus status={run.status} />
        <span className="text-sm text-ink-2">{plural(run.episodes, "episode")}</span>
        <span className="ml-auto flex items-center gap-2 text-xs text-ink-3">
          <TimeAgo at={run.started_at} />
          {succeeded && (
            <UndoButton step={{ run_id: run.id }} of={`consolidation of ${run.butler}`} />
          )}
        </span>
      </p>
      {(succeeded || Object.keys(run.counts).length > 0) && (
        <div className="mt-1 text-sm">
          <Figures detail={run.counts} />
        </div>
      )}
      <p className="mt-1 flex flex-wrap gap-x-3 text-xs text-ink-3">
        <Code>{run.model}</Code>
        <span>
          {count(tokens)} tokens ({count(run.tokens_in)} in, {count(run.tokens_out)} out)
        </span>
        {run.cost_usd !== null && <span>{DOLLARS.format(run.cost_usd)}</span>}
        <span>{begunBy(run.trigger_source)}</span>
      </p>
      {run.errors.length > 0 && (
        <details className="mt-2 text-sm" open={!succeeded}>
          <summary className="text-bad-ink">{plural(run.errors.length, "remark")}</summary>
          <ul className="mt-1 list-disc space-y-1 pl-5 text-ink-2">
            {run.errors.map((error, index) => (
              <li key={index} className="memory-text">
                {error}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Who began a run, in words: "schedule:consolidation", "manual:cli". */
function begunBy(source: string): string {
  if (source === "host:consolidation") return "by an agent, with its own model";
  return by(source.replace(/^manual:|:consolidation$/, ""));
}
