import clsx from "clsx";
import type { Schemas } from "@/api/client";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { exact } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";
import { useState } from "react";

type Application = Schemas["Application"];

interface ApplicationsProps {
  /** The newest first. */
  applications: readonly Application[];
  total: number;
}

// Of the list, before one asks for all of it.
const SHOWN = 5;
// What a line of marks holds.
const MARKS = 40;

/** Each reported use of a rule, and what came of it (RAP-03). */
export function Applications({ applications, total }: ApplicationsProps) {
  const [all, setAll] = useState(false);
  if (applications.length === 0)
    return (
      <p className="text-sm text-ink-3">
        Nobody reported a use of it yet. Agents do so with{" "}
        <code className="font-mono text-xs">memory_mark_helpful</code> and{" "}
        <code className="font-mono text-xs">memory_mark_harmful</code>.
      </p>
    );
  return (
    <>
      <Marks applications={applications.slice(0, MARKS)} />
      <ol className="mt-3 divide-y text-sm">
        {(all ? applications : applications.slice(0, SHOWN)).map((one) => (
          <li key={one.id} className="py-2">
            <div className="flex items-center gap-2">
              <Badge tone={one.outcome === "helpful" ? "good" : "bad"}>
                {one.outcome === "helpful" ? "helped" : "did harm"}
              </Badge>
              <span className="ml-auto text-xs text-ink-3">
                <TimeAgo at={one.created_at} />
              </span>
            </div>
            {typeof one.context["reason"] === "string" && (
              <p className="memory-text mt-1 text-ink-2">{one.context["reason"]}</p>
            )}
          </li>
        ))}
      </ol>
      {applications.length > SHOWN && (
        <Button small kind="quiet" className="mt-1" onClick={() => setAll((now) => !now)}>
          {all ? "Show fewer" : `Show all ${applications.length}`}
        </Button>
      )}
      {total > applications.length && (
        <p className="mt-2 text-sm text-ink-3">
          {total} in all; these are the newest {applications.length}.
        </p>
      )}
    </>
  );
}

/** The outcomes as a row of marks, the oldest at the left: one sees a rule turn. */
function Marks({ applications }: { applications: readonly Application[] }) {
  const helped = applications.filter((one) => one.outcome === "helpful").length;
  return (
    <div
      role="img"
      aria-label={`Of the last ${applications.length} uses, ${helped} helped.`}
      className="flex flex-wrap gap-1"
    >
      {applications.toReversed().map((one) => (
        <span
          key={one.id}
          title={`${one.outcome}, ${exact(new Date(one.created_at))}`}
          className={clsx(
            "w-2 rounded-xs",
            one.outcome === "helpful" ? "h-5 bg-good" : "mt-2.5 h-2.5 bg-bad",
          )}
        />
      ))}
    </div>
  );
}
