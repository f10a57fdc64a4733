import { Activity } from "lucide-react";
import type { Schemas } from "@/api/client";
import { MemoryLink } from "@/shell/MemoryLink";
import { eventTone, toldOf } from "@/shell/events";
import { Badge } from "@/ui/Badge";
import { Card } from "@/ui/Card";
import { Code, EmptyState } from "@/ui/EmptyState";
import { words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type Event = Schemas["Event"];

/** What became known, changed, faded or was given up, newest first (DASH-12). */
export function Feed({ events }: { events: readonly Event[] | undefined }) {
  return (
    <Card title="Activity" note="What memory learned, changed and forgot">
      {events === undefined ? (
        <SkeletonRows rows={8} />
      ) : events.length === 0 ? (
        <EmptyState icon={Activity} title="Nothing happened yet">
          Once an agent stores facts, or a consolidation reads its episodes, each step appears here.
          Try <Code>memory-butler store-fact user city &quot;Lives in Porto&quot;</Code>
        </EmptyState>
      ) : (
        <ol className="-my-2 divide-y">
          {events.map((one) => (
            <li key={one.id} className="py-2.5">
              <div className="flex items-center justify-between gap-2">
                <Badge tone={eventTone(one.event_type)} title={one.said}>
                  {words(one.event_type)}
                </Badge>
                <span className="text-xs text-ink-3">
                  <TimeAgo at={one.created_at} />
                </span>
              </div>
              <p className="memory-text mt-1 line-clamp-2 text-sm text-ink-2">
                {one.memory_type && one.memory_id ? (
                  <MemoryLink
                    kind={one.memory_type}
                    id={one.memory_id}
                    className="hover:text-ink hover:underline"
                  >
                    {toldOf(one)}
                  </MemoryLink>
                ) : (
                  toldOf(one)
                )}
              </p>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
