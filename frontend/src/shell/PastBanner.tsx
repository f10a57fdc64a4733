import { queryOptions, useIsFetching, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { History } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { asked } from "@/api/client";
import { dayOf } from "@/shell/days";
import { type PastAxis, type PastSearch } from "@/shell/past";
import { Button } from "@/ui/Button";
import { DayBox, Select } from "@/ui/Field";
import { day as nameOf } from "@/ui/format";

const DAY = 86_400_000;
// How far back the slider reaches at least.
const LEAST_DAYS = 30;
// Between two days that are asked for while the slider moves; the next waits for the answer, too.
const PAUSE_MILLISECONDS = 100;

const AXES: readonly { value: PastAxis; label: string }[] = [
  { value: "known_at", label: "Known then" },
  { value: "as_of", label: "True then" },
];

// The day of the first fact, from which on there is something to see.
const firstFact = queryOptions({
  ...asked(["facts", "first"], "/api/memory/facts", {
    query: { validity: "all", direction: "asc", limit: 1 },
  }),
  select: ({ items }) => items[0]?.created_at,
  staleTime: Infinity,
});

/** Says that one looks at the past, moves through it, and leads back. */
export default function PastBanner({ past }: { past: PastSearch }) {
  const navigate = useNavigate();
  const axis: PastAxis = past.known_at ? "known_at" : "as_of";
  const day = past[axis]!;
  const go = (to: PastSearch) =>
    void navigate({
      to: ".",
      search: (now) => ({ ...now, known_at: undefined, as_of: undefined, ...to }),
      replace: true,
      resetScroll: false,
    });
  return (
    <div
      role="region"
      aria-label="The past"
      className="sticky bottom-0 z-20 flex flex-wrap items-center gap-x-4 gap-y-2 border-t-2 border-warn bg-warn-soft px-4 py-2.5 text-warn-ink sm:px-8"
    >
      <p className="flex min-w-0 flex-1 basis-72 items-center gap-2.5" role="status">
        <History className="size-4 shrink-0" aria-hidden />
        <Said past={past} />
      </p>
      <DaySlider key={axis} day={day} onChange={(to) => go({ [axis]: to })} />
      <div className="flex flex-wrap items-center gap-2">
        <DayBox label="Day" value={day} onChange={(to) => go({ [axis]: to })} />
        <Select
          label="What of that day"
          value={axis}
          onChange={(to) => to && go({ [to]: day })}
          options={AXES}
        />
        <Button kind="primary" onClick={() => go({})}>
          Back to now
        </Button>
      </div>
    </div>
  );
}

function Said({ past: { known_at, as_of } }: { past: PastSearch }) {
  const named = (of: string) => nameOf(of, "long");
  return (
    <span>
      You look at{" "}
      {as_of ? (
        <>
          what was true at the end of <b className="font-semibold">{named(as_of)}</b>, as far as
          {known_at ? ` was known at the end of ${named(known_at)}` : " is known now"}
        </>
      ) : (
        <>
          memory as it was known at the end of{" "}
          <b className="font-semibold">{known_at && named(known_at)}</b>
        </>
      )}
      . Nothing can be changed there.
    </span>
  );
}

interface DaySliderProps {
  day: string;
  onChange: (day: string) => void;
}

function DaySlider({ day, onChange }: DaySliderProps) {
  const { data: first } = useQuery(firstFact);
  const ago = (of: string) => Math.round((noon(dayOf(new Date())) - noon(of)) / DAY);
  const [back, setBack] = useState(ago(day));
  // The day changed elsewhere: it was typed, or Back was pressed.
  useEffect(() => setBack(ago(day)), [day]);
  const isAnswered = useIsFetching() === 0;
  const isElsewhere = back !== ago(day);
  const move = useEffectEvent(() =>
    onChange(dayOf(new Date(noon(dayOf(new Date())) - back * DAY))),
  );
  useEffect(() => {
    if (!isElsewhere || !isAnswered) return;
    const waiting = window.setTimeout(move, PAUSE_MILLISECONDS);
    return () => window.clearTimeout(waiting);
  }, [isElsewhere, isAnswered]);
  const most = Math.max(LEAST_DAYS, first ? ago(dayOf(new Date(first))) : 0, back);
  return (
    <input
      type="range"
      aria-label="Days ago"
      aria-valuetext={`${back} days ago`}
      // To the right it goes on in time.
      min={-most}
      max={-1}
      value={-back}
      onChange={(event) => setBack(-Number(event.target.value))}
      className="min-w-40 flex-1 basis-48 accent-accent"
    />
  );
}

/** Its noon, from which a day is told in every time zone and season. */
function noon(day: string): number {
  return Date.parse(`${day}T12:00:00`);
}
