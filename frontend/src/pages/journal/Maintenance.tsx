import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, Play, Wrench } from "lucide-react";
import { useState } from "react";
import { languageModel } from "@/memory/queries";
import { takeBack } from "@/pages/journal/corrections";
import { Diff } from "@/pages/journal/Diff";
import { compile, run, runs, type MaintenanceRun, type UpkeepView } from "@/pages/journal/queries";
import { useChange } from "@/shell/change";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { Code, EmptyState } from "@/ui/EmptyState";
import { count, plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const STATES: Record<MaintenanceRun["state"], Tone> = {
  completed: "good",
  failed: "bad",
  unfinished: "warn",
};

/** The runs that compiled messages into fragments, and what each changed. */
export function Maintenance({ companion }: { companion: string }) {
  const { data } = useQuery(runs(companion));
  if (!data) return <SkeletonRows rows={5} className="h-16" />;
  return (
    <div className="space-y-4">
      <Compile companion={companion} unread={data.unread} upkeep={data.upkeep} />
      {data.runs.length === 0 ? (
        <EmptyState icon={Wrench} title="Nothing was compiled yet">
          A run reads what was said and writes what is worth knowing into fragments. Each is listed
          here with what it changed, and can be taken back.
        </EmptyState>
      ) : (
        <Card title="Runs" note="The latest first">
          <ul className="divide-y">
            {data.runs.map((one) => (
              <li key={one.id} className="py-3 first:pt-0 last:pb-0">
                <Run companion={companion} run={one} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

/** Lets the model read what was said since the last run; or says what is missing for that. */
function Compile({
  companion,
  unread,
  upkeep,
}: {
  companion: string;
  unread: number;
  upkeep: UpkeepView;
}) {
  const queries = useQueryClient();
  const { data: model } = useQuery(languageModel);
  const compiling = useMutation({
    mutationFn: (dryRun: boolean) => compile(companion, dryRun),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["journal", companion] }),
    // Told beside the buttons.
    onError: () => undefined,
  });
  const { data: done, error } = compiling;
  return (
    <Card
      title="Compile"
      note={`${plural(unread, "message")} said since the last run`}
      aside={
        <div className="flex gap-2">
          {[true, false].map((dryRun) => (
            <Button
              key={String(dryRun)}
              small
              disabled={compiling.isPending}
              busy={compiling.isPending && compiling.variables === dryRun}
              onClick={() => compiling.mutate(dryRun)}
            >
              {dryRun ? <FlaskConical /> : <Play />} {dryRun ? "Dry run" : "Run now"}
            </Button>
          ))}
        </div>
      }
    >
      <p className="text-ink-2">
        A language model reads them and brings the fragments up to date.{" "}
        {model ? (
          <>
            It is <Code>{model}</Code>, unless the journal names another.
          </>
        ) : model === null && !error ? (
          <>
            This server has none: set <Code>ANTHROPIC_API_KEY</Code> or <Code>OPENAI_API_KEY</Code>{" "}
            where it runs, or name a <Code>model</Code> in <Code>[modules.memory.journal]</Code> of
            butler.toml. <Code>memory-butler doctor</Code> tells whether it works.
          </>
        ) : null}
      </p>
      <p className="mt-2 text-sm text-ink-3">
        {upkeep.waits
          ? `It does not run by itself: ${upkeep.waits}. `
          : `It runs by itself after ${plural(upkeep.after_messages, "message")}, and at the end of a conversation. `}
        Runs of the last 24 hours used {count(upkeep.used)} of {count(upkeep.budget)} tokens.
      </p>
      <div role="status">
        {compiling.isPending && <p className="mt-3 text-sm text-ink-3">Under way…</p>}
        {error && (
          <p className="memory-text mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad-ink">
            {error.message}
          </p>
        )}
        {done && (
          <div className="mt-3 space-y-3">
            <p className="memory-text text-sm text-ink-2">
              {done.run_id === null && "It would do this; nothing was changed. "}
              {done.message}
            </p>
            <Remarks remarks={done.refused} />
            {done.run_id === null && done.changes.map((one) => <Diff key={one.key} change={one} />)}
          </div>
        )}
      </div>
    </Card>
  );
}

/** What the model proposed and was not done. */
function Remarks({ remarks }: { remarks: readonly string[] }) {
  if (remarks.length === 0) return null;
  return (
    <ul className="mt-2 list-disc space-y-1 pl-5 text-sm text-warn-ink">
      {remarks.map((said, index) => (
        <li key={index} className="memory-text">
          {said}
        </li>
      ))}
    </ul>
  );
}

function Run({ companion, run: one }: { companion: string; run: MaintenanceRun }) {
  const [open, setOpen] = useState(false);
  const tokens = one.tokens_in + one.tokens_out;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{one.run_type}</span>
        <Badge tone={STATES[one.state]}>{one.state}</Badge>
        <span className="text-sm text-ink-2">{plural(one.events, "message")} read</span>
        {tokens > 0 && <span className="text-sm text-ink-3">{count(tokens)} tokens</span>}
        {one.model && <Code>{one.model}</Code>}
        <span className="ml-auto text-xs text-ink-3">
          <TimeAgo at={one.started_at} />
        </span>
      </summary>
      {one.message && <p className="memory-text mt-2 text-sm text-ink-2">{one.message}</p>}
      <Remarks remarks={one.refused} />
      {open && <Changes companion={companion} id={one.id} state={one.state} />}
    </details>
  );
}

interface ChangesProps {
  companion: string;
  id: number;
  state: MaintenanceRun["state"];
}

function Changes({ companion, id, state }: ChangesProps) {
  const { data } = useQuery(run(companion, id));
  const change = useChange();
  if (!data) return <SkeletonRows rows={2} />;
  return (
    <div className="mt-3 space-y-3">
      {data.changes.length === 0 ? (
        <p className="text-sm text-ink-3">It changed nothing.</p>
      ) : (
        data.changes.map((one) => <Diff key={one.key} change={one} />)
      )}
      {state === "completed" && data.changes.length > 0 && (
        <Button
          small
          busy={change.isPending}
          onClick={() => change.mutate(takeBack(companion, id))}
        >
          Take it all back
        </Button>
      )}
    </div>
  );
}
