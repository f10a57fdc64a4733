import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { CircleAlert } from "lucide-react";
import { SessionLine } from "@/memory/SessionLine";
import { ButlerPage } from "@/pages/butlers/ButlerPage";
import { Figures, Seen } from "@/pages/butlers/Figures";
import { HealthBadge } from "@/pages/butlers/HealthBadge";
import { butlerDetail, type Butler as ButlerFigures } from "@/pages/butlers/queries";
import type { Schemas } from "@/api/client";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { Card } from "@/ui/Card";
import { plural, words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const route = getRouteApi("/butlers/$butler");

/** One butler: how it fares, what it learned last (DASH-17), and its latest sessions. */
export default function Butler() {
  const { butler: name } = route.useParams();
  const { data } = useQuery(butlerDetail(name));
  return (
    <ButlerPage name={name} lead="The health of this butler's memory, and what it learned last.">
      {!data ? (
        <SkeletonRows rows={6} className="h-20" />
      ) : (
        <div className="grid items-start gap-4 xl:grid-cols-[22rem_minmax(0,1fr)]">
          <Card title="Health" aside={<HealthBadge health={data.butler.health} />}>
            <Figures butler={data.butler} />
            <Waiting butler={data.butler} />
            <p className="mt-4 border-t pt-3">
              <Seen butler={data.butler} />
            </p>
          </Card>
          <div className="space-y-4">
            <Learnings facts={data.learnings} />
            <Card
              title="Recent sessions"
              note="What was stored and read in each session, latest first"
            >
              {data.sessions.length === 0 ? (
                <p className="text-ink-2">
                  None yet. A session is known by the id that an agent gives with its episodes and
                  questions.
                </p>
              ) : (
                <ul className="-my-2 divide-y">
                  {data.sessions.map((one) => (
                    <li key={one.session_id} className="py-3">
                      <SessionLine session={one} />
                    </li>
                  ))}
                </ul>
              )}
            </Card>
          </div>
        </div>
      )}
    </ButlerPage>
  );
}

/** What needs doing, where something does. */
function Waiting({ butler }: { butler: ButlerFigures }) {
  if (butler.dead_letters > 0)
    return (
      <p className="mt-4 flex gap-2 rounded-lg bg-bad-soft px-3 py-2.5 text-sm text-bad-ink">
        <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>
          Consolidation gave up on {plural(butler.dead_letters, "episode")} of this butler. See the
          error of each, and try again once its cause is gone.
        </span>
      </p>
    );
  if (butler.pending > 0)
    return (
      <p className="mt-4 text-sm text-ink-2">
        {plural(butler.pending, "episode")} {butler.pending === 1 ? "waits" : "wait"} to be learned
        from, the oldest since <TimeAgo at={butler.waiting_since} />. See the{" "}
        <Link to="/jobs" className="font-medium text-accent-ink hover:underline">
          schedule
        </Link>
        .
      </p>
    );
  return <p className="mt-4 text-sm text-ink-2">All that it told was learned from.</p>;
}

function Learnings({ facts }: { facts: readonly Schemas["Fact"][] }) {
  return (
    <Card title="Recent learnings" note="The last facts that this butler learned">
      {facts.length === 0 ? (
        <p className="text-ink-2">
          It has learned none yet. Facts come from what an agent stores, and from consolidated
          episodes.
        </p>
      ) : (
        <ol className="-my-2 divide-y">
          {facts.map((one) => (
            <li key={one.id} className="py-3">
              <div className="mb-1 flex flex-wrap items-center gap-2">
                <Badge>{one.subject}</Badge>
                <span className="text-xs text-ink-3">{words(one.predicate)}</span>
                <span className="ml-auto text-xs text-ink-3">
                  <TimeAgo at={one.created_at} />
                </span>
              </div>
              <div className="flex items-start justify-between gap-4">
                <MemoryLink kind="fact" id={one.id} className="min-w-0 hover:underline">
                  <span className="memory-text line-clamp-3">{one.content}</span>
                </MemoryLink>
                <ConfidenceBar effective={one.effective_confidence} base={one.confidence} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
