import { useQuery } from "@tanstack/react-query";
import { Check, GraduationCap, Undo2 } from "lucide-react";
import { keepLearned, takeBack } from "@/pages/journal/corrections";
import { Diff } from "@/pages/journal/Diff";
import { learned, type LearnedChange } from "@/pages/journal/queries";
import { useChange } from "@/shell/change";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { plural, words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const DECISIONS: Record<LearnedChange["decision"], Tone> = {
  open: "accent",
  kept: "good",
  taken_back: "bad",
  replaced: "neutral",
};

/** What maintenance changed in the last seven days: each change is kept or taken back. */
export function Learned({ companion }: { companion: string }) {
  const { data } = useQuery(learned(companion));
  const change = useChange();
  if (!data) return <SkeletonRows rows={4} className="h-24" />;
  if (data.changes.length === 0)
    return (
      <EmptyState icon={GraduationCap} title="Nothing was learned in the last seven days">
        After a maintenance run its changes are listed here, before and after, to be approved or
        taken back.
      </EmptyState>
    );
  return (
    <>
      <p className="mb-3 text-sm text-ink-2" role="status">
        {plural(data.changes.length, "change")} in the last seven days, {data.open} not decided. A
        change holds from the start; approving it notes that you have seen it.
      </p>
      <ul className="space-y-4" aria-label="What it learned">
        {data.changes.map((one) => (
          <li key={`${one.run_id} ${one.change.key}`}>
            <Diff change={one.change} />
            <div className="mt-2 flex flex-wrap items-center gap-2">
              <Badge tone={DECISIONS[one.decision]}>
                {one.decision === "open" ? "not decided" : words(one.decision)}
              </Badge>
              <span className="text-xs text-ink-3">
                {one.run_type} run {one.run_id}, <TimeAgo at={one.completed_at} />
              </span>
              {(one.decision === "open" || one.decision === "kept") && (
                <span className="ml-auto flex gap-2">
                  {one.decision === "open" && (
                    <Button
                      small
                      disabled={change.isPending}
                      aria-label={`Keep ${one.change.key}`}
                      onClick={() =>
                        change.mutate(keepLearned(companion, one.run_id, [one.change.key]))
                      }
                    >
                      <Check /> Keep
                    </Button>
                  )}
                  <Button
                    small
                    disabled={change.isPending}
                    aria-label={`Take back ${one.change.key}`}
                    onClick={() => change.mutate(takeBack(companion, one.run_id, [one.change.key]))}
                  >
                    <Undo2 /> Take back
                  </Button>
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
