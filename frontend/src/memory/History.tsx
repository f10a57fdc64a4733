import { useInfiniteQuery } from "@tanstack/react-query";
import { history } from "@/memory/queries";
import { by, eventTone } from "@/shell/events";
import { usePast } from "@/shell/past";
import type { MemoryType } from "@/shell/vocabulary";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

/** Everything that happened to a memory, newest first. */
export function History({ kind, id }: { kind: MemoryType; id: string }) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    history(kind, id, usePast()),
  );
  if (!data) return <SkeletonRows rows={3} />;
  const events = data.pages.flatMap((one) => one.items);
  if (events.length === 0)
    return <p className="text-sm text-ink-3">The log has nothing on this {kind}.</p>;
  return (
    <>
      <ol className="ml-1 border-l">
        {events.map((one) => (
          <li key={one.id} className="relative pb-3 pl-4 last:pb-0">
            <span
              aria-hidden
              className="absolute top-2 -left-1 size-2 rounded-full bg-line-strong ring-2 ring-raised"
            />
            <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-sm text-ink-2">
              <Badge tone={eventTone(one.event_type)} title={one.said}>
                {words(one.event_type)}
              </Badge>
              {one.actor && <span className="text-xs">{by(one.actor)}</span>}
              <span className="ml-auto text-xs text-ink-3">
                <TimeAgo at={one.created_at} />
              </span>
            </div>
            {typeof one.payload["reason"] === "string" && (
              <p className="memory-text mt-1 text-sm text-ink-2">{one.payload["reason"]}</p>
            )}
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <Button
          small
          kind="quiet"
          className="mt-2"
          busy={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          Show earlier ones
        </Button>
      )}
    </>
  );
}
