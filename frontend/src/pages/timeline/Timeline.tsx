import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { History } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Superseded } from "@/memory/Superseded";
import { UndoButton } from "@/memory/UndoButton";
import { titleOf } from "@/pages/timeline/kinds";
import { eventPages } from "@/pages/timeline/queries";
import type { TimelineSearch } from "@/pages/timeline/route";
import { TimelineFilters } from "@/pages/timeline/TimelineFilters";
import { by, canUndo, eventTone, toldOf } from "@/shell/events";
import { isFiltered, own } from "@/shell/filters";
import { MemoryLink } from "@/shell/MemoryLink";
import { SavedViews } from "@/shell/SavedViews";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Code, EmptyState, NoneFits } from "@/ui/EmptyState";
import { day, plural } from "@/ui/format";
import { More } from "@/ui/More";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type Event = Schemas["Event"];

const route = getRouteApi("/memory/timeline");
const MINUTE = 60_000; // in milliseconds
const FEW = 3; // links that are shown at once

/** Everything that ever happened to memory, newest first and as it happens (DASH-18). */
export default function Timeline() {
  const search = own(route.useSearch());
  const navigate = route.useNavigate();
  const change = (part: Partial<TimelineSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  const pages = useInfiniteQuery(eventPages(search));
  const events = pages.data?.pages.flatMap((one) => one.items);
  const total = pages.data?.pages[0]?.total;
  return (
    <Page
      title="Timeline"
      lead="Everything that happened to memory, by whom and when. New events appear as they happen."
      actions={<SavedViews page="timeline" search={search} />}
    >
      <TimelineFilters search={search} onChange={change} />
      <p className="mb-3 text-sm text-ink-3" role="status">
        {total !== undefined && plural(total, "event")}
      </p>
      {!events ? (
        <SkeletonRows rows={12} className="h-12" />
      ) : events.length === 0 ? (
        <Nothing filtered={isFiltered(search)} onClear={() => void navigate({ search: {} })} />
      ) : (
        <Days events={events} />
      )}
      <More pages={pages} />
    </Page>
  );
}

function Days({ events }: { events: readonly Event[] }) {
  const days = Map.groupBy(events, (one) => day(new Date(one.created_at), "full"));
  return (
    <div className="space-y-6">
      {[...days].map(([name, happened]) => (
        <section key={name} aria-label={name}>
          <h2 className="mb-2 text-sm font-semibold">{name}</h2>
          <ol className="divide-y overflow-hidden rounded-xl border bg-surface shadow-card">
            {runs(happened).map((run) => (
              <Run key={run[0].id} events={run} />
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

type Run = readonly [Event, ...Event[]];

/** Links that one actor made within a minute together, anything else by itself. */
function runs(events: readonly Event[]): Run[] {
  const found: [Event, ...Event[]][] = [];
  for (const one of events) {
    const run = found.at(-1);
    if (run && belongs(run[0], one)) run.push(one);
    else found.push([one]);
  }
  return found;
}

/** Whether an event is told with the newer one above it. */
function belongs(newer: Event, older: Event): boolean {
  const areLinks = newer.event_type === "link_created" && older.event_type === "link_created";
  const apart = Date.parse(newer.created_at) - Date.parse(older.created_at);
  return areLinks && newer.actor === older.actor && apart < MINUTE;
}

/** Links are many and say little one by one: the first is shown, the others when asked for. */
function Run({ events: [first, ...others] }: { events: Run }) {
  const [isOpen, setIsOpen] = useState(false);
  const shown = isOpen || others.length < FEW ? others : [];
  return (
    <>
      <EventLine event={first} />
      {shown.map((one) => (
        <EventLine key={one.id} event={one} />
      ))}
      {shown.length < others.length && (
        <li className="px-4 py-1.5">
          <Button small kind="quiet" onClick={() => setIsOpen(true)}>
            Show {plural(others.length, "more link")}
          </Button>
        </li>
      )}
    </>
  );
}

function EventLine({ event }: { event: Event }) {
  const { reason, superseded_by: successor } = event.payload;
  const type = event.memory_type;
  // A successor whose own creation was undone is no longer there.
  const isThere = typeof successor === "string" && event.after !== null;
  const id = isThere ? successor : event.memory_id;
  return (
    <li className="grid gap-x-4 gap-y-1 px-4 py-3 xl:grid-cols-[14rem_minmax(0,1fr)_auto]">
      <div>
        <Badge tone={eventTone(event.event_type)} title={event.said}>
          {titleOf(event.event_type)}
        </Badge>
      </div>
      <div className="min-w-0">
        {event.before !== null && <Superseded text={event.before} />}
        <p className="memory-text line-clamp-3">
          {type && id && event.about !== null ? (
            <MemoryLink kind={type} id={id} className="hover:underline">
              {event.after ?? event.about}
            </MemoryLink>
          ) : (
            toldOf(event)
          )}
        </p>
        {typeof reason === "string" && (
          <p className="memory-text mt-0.5 line-clamp-3 text-sm text-ink-3">{reason}</p>
        )}
      </div>
      <div className="flex items-center gap-2 self-start text-xs text-ink-3 xl:justify-end">
        {event.actor && <span className="max-w-40 truncate">{by(event.actor)}</span>}
        <TimeAgo at={event.created_at} />
        {event.undone && <Badge>undone</Badge>}
        {canUndo(event) && (
          <UndoButton step={{ event_id: event.id }} of={titleOf(event.event_type)} />
        )}
      </div>
    </li>
  );
}

function Nothing({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  return filtered ? (
    <NoneFits icon={History} what="event" onClear={onClear} />
  ) : (
    <EmptyState icon={History} title="Nothing happened yet">
      Each change of memory appears here: what was learned, promoted, replaced and forgotten. Try{" "}
      <Code>memory-butler store-fact user city &quot;Lives in Porto&quot;</Code>
    </EmptyState>
  );
}
