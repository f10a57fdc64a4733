import clsx from "clsx";
import type { Schemas } from "@/api/client";
import { usePast } from "@/shell/past";
import { confidenceTone } from "@/ui/Bars";
import { day, percent } from "@/ui/format";
import { TimeAgo, useNow } from "@/ui/TimeAgo";

type Decay = Schemas["Decay"];
type Point = Schemas["CurvePoint"];

interface DecayChartProps {
  decay: Decay;
  /** Whether it still counts: what was given up is not worth confirming. */
  isCurrent: boolean;
}

const DOT = { good: "bg-good", warn: "bg-warn", bad: "bg-bad" };

/** The moment that is looked at, and what it is called. */
function useStandpoint(): { now: number; named: "today" | "then" } {
  const present = useNow().getTime();
  const known = usePast()?.known_at;
  return known ? { now: Date.parse(known), named: "then" } : { now: present, named: "today" };
}

/** How a confidence fades, where it stands, and what confirming it would do. */
export function DecayChart({ decay, isCurrent }: DecayChartProps) {
  const { now, named } = useStandpoint();
  const { effective_now: today, effective_if_confirmed: confirmed } = decay;
  const gains = isCurrent && named === "today" && confirmed - today > 0.005;
  const start = Math.min(time(decay.curve[0]) ?? now, now);
  const ends = [now, time(decay.curve.at(-1)), gains ? time(decay.if_confirmed.at(-1)) : now];
  const end = Math.max(...ends.map((one) => one ?? now));
  const x = (at: number) => ((at - start) / Math.max(1, end - start)) * 100;
  const path = (points: readonly Point[]) =>
    points
      .map(({ at, effective }, index) => {
        const [px, py] = [x(Date.parse(at)), (1 - effective) * 100];
        return `${index ? "L" : "M"}${px.toFixed(2)} ${py.toFixed(2)}`;
      })
      .join("");
  return (
    <figure>
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-xs text-ink-3" aria-hidden>
        <div className="flex h-40 flex-col justify-between text-right leading-none">
          <span>100 %</span>
          <span>50 %</span>
          <span>0</span>
        </div>
        <div className="relative h-40">
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            className="absolute inset-0 size-full overflow-visible"
          >
            <Zone
              from={decay.retrieval_threshold}
              to={decay.expiry_threshold}
              className="fill-warn-soft"
            />
            <Zone from={decay.expiry_threshold} to={0} className="fill-bad-soft" />
            {[0, 0.5, 1].map((one) => (
              <line
                key={one}
                x1={0}
                x2={100}
                y1={one * 100}
                y2={one * 100}
                className="stroke-line"
                vectorEffect="non-scaling-stroke"
              />
            ))}
            <line
              x1={x(now)}
              x2={x(now)}
              y1={0}
              y2={100}
              strokeDasharray="2 3"
              className="stroke-ink-3"
              vectorEffect="non-scaling-stroke"
            />
            {gains && (
              <path
                d={path(decay.if_confirmed)}
                fill="none"
                strokeWidth={1.75}
                strokeDasharray="5 4"
                className="stroke-good"
                vectorEffect="non-scaling-stroke"
              />
            )}
            <path
              d={path(decay.curve)}
              fill="none"
              strokeWidth={2}
              className="stroke-accent"
              vectorEffect="non-scaling-stroke"
            />
          </svg>
          {decay.decay_rate > 0 && (
            <span
              className="absolute right-1 text-warn-ink"
              style={{ top: `calc(${(1 - decay.retrieval_threshold) * 100}% - 1.05rem)` }}
            >
              fades below {percent(decay.retrieval_threshold)}
            </span>
          )}
          {gains && <Dot x={x(now)} y={confirmed} className="border-2 border-good bg-raised" />}
          <Dot x={x(now)} y={today} className={DOT[confidenceTone(today)]} />
        </div>
        <span />
        <div className="relative mt-1.5 h-4">
          <span className="absolute left-0">{x(now) > 24 && day(start)}</span>
          <span
            className={clsx(
              "absolute font-medium whitespace-nowrap text-ink-2",
              x(now) > 5 && "-translate-x-1/2",
            )}
            style={{ left: `${Math.min(x(now), 94)}%` }}
          >
            {named}
          </span>
          <span className="absolute right-0">{x(now) < 76 && day(end)}</span>
        </div>
      </div>
      <figcaption className="mt-3 space-y-1.5 text-sm text-ink-2">
        <Today decay={decay} isCurrent={isCurrent} />
        {gains && <IfConfirmed decay={decay} />}
      </figcaption>
    </figure>
  );
}

function Today({ decay, isCurrent }: DecayChartProps) {
  const { now, named } = useStandpoint();
  if (decay.decay_rate === 0)
    return (
      <Line className="bg-accent">
        <b className="font-semibold text-ink">{percent(decay.effective_now)}</b>, and it stays so:
        what is permanent never fades.
      </Line>
    );
  const hasFaded = decay.fades_at !== null && Date.parse(decay.fades_at) <= now;
  return (
    <Line className="bg-accent">
      <b className="font-semibold text-ink">{percent(decay.effective_now)}</b> {named}.{" "}
      {!isCurrent ? null : hasFaded ? (
        <>
          Recall has left it out since <Day at={decay.fades_at} />; it expires{" "}
          {named === "today" ? <TimeAgo at={decay.expires_at} /> : <Day at={decay.expires_at} />}.
        </>
      ) : (
        <>
          Unconfirmed, recall leaves it out from <Day at={decay.fades_at} /> on, and it expires on{" "}
          <Day at={decay.expires_at} />.
        </>
      )}
    </Line>
  );
}

function IfConfirmed({ decay }: { decay: Decay }) {
  return (
    <Line className="bg-good">
      Confirmed now it is back at{" "}
      <b className="font-semibold text-ink">{percent(decay.effective_if_confirmed)}</b>, and lasts
      until <Day at={decay.fades_at_if_confirmed} />.
    </Line>
  );
}

function Day({ at }: { at: string | null }) {
  return at ? <time dateTime={at}>{day(new Date(at))}</time> : <>further notice</>;
}

function Line({ className, children }: { className: string; children: React.ReactNode }) {
  return (
    <p className="flex gap-2">
      <span aria-hidden className={clsx("mt-2.5 h-0.5 w-3 shrink-0 rounded-full", className)} />
      <span>{children}</span>
    </p>
  );
}

function Zone({ from, to, className }: { from: number; to: number; className: string }) {
  return (
    <rect x={0} width={100} y={(1 - from) * 100} height={(from - to) * 100} className={className} />
  );
}

function Dot({ x, y, className }: { x: number; y: number; className: string }) {
  return (
    <span
      className={clsx(
        "absolute size-2.5 -translate-x-1/2 -translate-y-1/2 rounded-full ring-2 ring-raised",
        className,
      )}
      style={{ left: `${x}%`, top: `${(1 - y) * 100}%` }}
    />
  );
}

function time(point: Point | undefined): number | undefined {
  return point && Date.parse(point.at);
}
