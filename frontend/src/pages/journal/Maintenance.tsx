import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Wrench } from "lucide-react";
import { useState } from "react";
import { Diff } from "@/pages/journal/Diff";
import { run, runs, undoRun, type MaintenanceRun } from "@/pages/journal/queries";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { Code, EmptyState } from "@/ui/EmptyState";
import { count, plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";
import { toast, toastError } from "@/ui/toasts";

const STATES: Record<MaintenanceRun["state"], Tone> = {
  completed: "good",
  failed: "bad",
  unfinished: "warn",
};

/** The runs that compiled messages into fragments, and what each changed. */
export function Maintenance({ companion }: { companion: string }) {
  const { data } = useQuery(runs(companion));
  if (!data) return <SkeletonRows rows={5} className="h-16" />;
  if (data.runs.length === 0)
    return (
      <EmptyState icon={Wrench} title="Nothing was compiled yet">
        {plural(data.unread, "message")} wait to be compiled into fragments, by{" "}
        <Code>memory-butler journal maintain bootstrap</Code>
      </EmptyState>
    );
  return (
    <Card title="Runs" note={`${plural(data.unread, "message")} said since the last one`}>
      <ul className="divide-y">
        {data.runs.map((one) => (
          <li key={one.id} className="py-3 first:pt-0 last:pb-0">
            <Run companion={companion} run={one} />
          </li>
        ))}
      </ul>
    </Card>
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
      {one.refused.length > 0 && (
        <ul className="mt-2 list-disc space-y-1 pl-5 text-sm text-warn-ink">
          {one.refused.map((said, index) => (
            <li key={index} className="memory-text">
              {said}
            </li>
          ))}
        </ul>
      )}
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
  const queries = useQueryClient();
  const { data } = useQuery(run(companion, id));
  const undo = useMutation({
    mutationFn: () => undoRun(companion, id),
    onSuccess: async ({ changes }) => {
      toast(`Took back ${plural(changes.length, "change")}`);
      await queries.invalidateQueries({ queryKey: ["journal", companion] });
    },
    onError: toastError,
  });
  if (!data) return <SkeletonRows rows={2} />;
  return (
    <div className="mt-3 space-y-3">
      {data.changes.length === 0 ? (
        <p className="text-sm text-ink-3">It changed nothing.</p>
      ) : (
        data.changes.map((one) => <Diff key={one.key} change={one} />)
      )}
      {state === "completed" && data.changes.length > 0 && (
        <Button small busy={undo.isPending} onClick={() => undo.mutate()}>
          Take it all back
        </Button>
      )}
    </div>
  );
}
