import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { ScoreBar, ScoreLegend } from "@/memory/ScoreBar";
import { TrustBadge } from "@/memory/TrustBadge";
import { explained, type Explained, type Weighed } from "@/pages/contexts/queries";
import { Replay } from "@/pages/contexts/Replay";
import { SessionLink } from "@/memory/SessionLink";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { Card } from "@/ui/Card";
import { count, exact, percent } from "@/ui/format";
import { Detail, Details } from "@/ui/Section";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const PLACES: readonly { place: Weighed["place"]; title: string; note?: string }[] = [
  { place: "in", title: "Why each line is there" },
  { place: "no_room", title: "No room", note: "Recalled, but the budget was spent" },
  { place: "repeats", title: "Said better already", note: "A better line says the same" },
  {
    place: "missed",
    title: "What just missed it",
    note: "Just below the limit of what is recalled",
  },
];

/** What one context was made of, every number as it was then. */
export function Receipt({ id }: { id: string }) {
  const { data } = useQuery(explained(id));
  return (
    <>
      <Link
        to="/memory/contexts"
        search={(now) => ({ ...now, receipt: undefined })}
        className="mb-4 inline-flex items-center gap-1.5 text-sm font-medium text-accent-ink hover:underline"
      >
        <ArrowLeft className="size-4" aria-hidden /> All contexts
      </Link>
      {data ? (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <div className="min-w-0 space-y-4">
            <Made context={data} />
            <Replay id={id} />
          </div>
          <div className="min-w-0 space-y-4">
            <Memories context={data} />
          </div>
        </div>
      ) : (
        <SkeletonRows rows={8} className="h-12" />
      )}
    </>
  );
}

function Made({ context }: { context: Explained }) {
  const { receipt } = context;
  const weights = Object.entries(context.weights)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, weight]) => `${name} ${percent(weight)}`);
  return (
    <Card title="How it was made">
      <Details>
        <Detail name="Built">
          <TimeAgo at={receipt.created_at} />, for {receipt.butler}
        </Detail>
        {receipt.prompt !== null && (
          <Detail name="Prompt">
            <span className="memory-text">{receipt.prompt}</span>
          </Detail>
        )}
        <Detail name="Session">
          <SessionLink id={receipt.session_id} none="none was named" />
        </Detail>
        <Detail name="Memory as of">{exact(new Date(context.taken_at))}</Detail>
        {context.as_of && <Detail name="True as of">{exact(new Date(context.as_of))}</Detail>}
        <Detail name="Budget">{count(context.token_budget)} tokens</Detail>
        <Detail name="Weights">{weights.join(", ")}</Detail>
        <Detail name="SHA-256">
          <code className="font-mono text-xs break-all text-ink-2">{receipt.sha256}</code>
        </Detail>
        <Detail name="Id">
          <code className="font-mono text-xs break-all text-ink-2">{receipt.id}</code>
        </Detail>
      </Details>
    </Card>
  );
}

function Memories({ context: { memories } }: { context: Explained }) {
  // One scale for all bars, so that their lengths compare.
  const most = Math.max(...memories.map((one) => one.score), Number.EPSILON);
  return PLACES.map(({ place, title, note }) => {
    const some = memories.filter((one) => one.place === place);
    if (some.length === 0 && place !== "in") return null;
    return (
      <Card key={place} title={title} note={note ?? <ScoreLegend />}>
        {some.length === 0 ? (
          <p className="text-ink-2">Nothing was certain enough to be recalled, or nothing fit.</p>
        ) : (
          <ol className="-my-2.5 divide-y">
            {some.map((one) => (
              <li key={one.id} className="py-2.5">
                <Line weighed={one} most={most} />
              </li>
            ))}
          </ol>
        )}
      </Card>
    );
  });
}

function Line({ weighed, most }: { weighed: Weighed; most: number }) {
  return (
    <>
      <Badge tone="accent">{weighed.memory_type}</Badge>{" "}
      {weighed.text === null ? (
        <span className="text-ink-3">It is gone; only its numbers are left.</span>
      ) : (
        <MemoryLink kind={weighed.memory_type} id={weighed.id} className="hover:underline">
          <span className="memory-text">{weighed.text}</span>
        </MemoryLink>
      )}
      {weighed.trust && weighed.trust !== "agent_inferred" && (
        <>
          {" "}
          <TrustBadge trust={weighed.trust} />
        </>
      )}
      <ScoreBar scores={{ score: weighed.score, explain: weighed.parts }} most={most} />
    </>
  );
}
