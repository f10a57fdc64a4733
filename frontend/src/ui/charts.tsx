import clsx from "clsx";
import { useId, type ReactNode } from "react";
import { count, day } from "@/ui/format";

/** Classes of the colours of a chart, in the order in which series take them. */
export const SERIES = ["chart-1", "chart-2", "chart-3", "chart-4", "chart-5"] as const;
export type SeriesColor = (typeof SERIES)[number] | "good" | "warn" | "bad";

const FILL: Record<SeriesColor, string> = {
  "chart-1": "bg-chart-1",
  "chart-2": "bg-chart-2",
  "chart-3": "bg-chart-3",
  "chart-4": "bg-chart-4",
  "chart-5": "bg-chart-5",
  good: "bg-good",
  warn: "bg-warn",
  bad: "bg-bad",
};
const STROKE: Record<SeriesColor, string> = {
  "chart-1": "stroke-chart-1 fill-chart-1",
  "chart-2": "stroke-chart-2 fill-chart-2",
  "chart-3": "stroke-chart-3 fill-chart-3",
  "chart-4": "stroke-chart-4 fill-chart-4",
  "chart-5": "stroke-chart-5 fill-chart-5",
  good: "stroke-good fill-good",
  warn: "stroke-warn fill-warn",
  bad: "stroke-bad fill-bad",
};

export interface Part {
  label: ReactNode;
  /** The label in words, where `label` is more than that. */
  name: string;
  value: number;
  color: SeriesColor;
}

/** What a whole consists of: one bar, and a legend with the figures. */
export function StackedBar({ label, parts }: { label: string; parts: readonly Part[] }) {
  const total = parts.reduce((sum, one) => sum + one.value, 0);
  const said = parts.map((one) => `${one.name} ${one.value}`).join(", ");
  return (
    <div>
      <div
        role="img"
        aria-label={`${label}: ${said}`}
        className="flex h-2 gap-0.5 overflow-hidden rounded-full bg-line"
      >
        {total > 0 &&
          parts
            .filter((one) => one.value > 0)
            .map((one) => (
              <div
                key={one.name}
                title={`${one.name}: ${count(one.value)}`}
                className={clsx("min-w-1", FILL[one.color])}
                style={{ flexGrow: one.value, flexBasis: 0 }}
              />
            ))}
      </div>
      <ul className="mt-3 space-y-1.5">
        {parts.map((one) => (
          <li key={one.name} className="flex items-center gap-2 text-sm">
            <span aria-hidden className={clsx("size-2 shrink-0 rounded-full", FILL[one.color])} />
            <span className="min-w-0 flex-1 truncate text-ink-2">{one.label}</span>
            <span className="font-medium tabular-nums">{count(one.value)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

export interface Series {
  name: string;
  color: SeriesColor;
  values: readonly number[];
}

interface LineChartProps {
  label: string;
  /** One for each value. */
  dates: readonly string[];
  series: readonly Series[];
  /** Draw the series on top of each other, as parts of a whole. */
  stacked?: boolean;
}

const [WIDTH, HEIGHT] = [600, 180];

/** Values over time, with a table of them for who cannot see the picture. */
export function LineChart({ label, dates, series, stacked = false }: LineChartProps) {
  const title = useId();
  const curves = stacked
    ? pile(series)
    : series.map((one) => ({ ...one, floor: one.values.map(() => 0) }));
  const most = niceCeiling(Math.max(1, ...curves.flatMap((one) => one.values)));
  const x = (index: number) => (index / Math.max(1, dates.length - 1)) * WIDTH;
  const y = (value: number) => HEIGHT - (value / most) * HEIGHT;
  // A single day is as wide as the chart.
  const path = (values: readonly number[]) =>
    (values.length === 1 ? [...values, ...values] : values)
      .map((value, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
      .join("");
  return (
    <figure aria-labelledby={title}>
      <figcaption id={title} className="sr-only">
        {label}
      </figcaption>
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-xs text-ink-3">
        <div className="flex h-44 flex-col justify-between text-right leading-none" aria-hidden>
          <span>{count(most)}</span>
          <span>{count(most / 2)}</span>
          <span>0</span>
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-44 w-full overflow-visible"
          aria-hidden
        >
          {[0, 0.5, 1].map((part) => (
            <line
              key={part}
              x1={0}
              x2={WIDTH}
              y1={HEIGHT * part}
              y2={HEIGHT * part}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {curves.map((one) => (
            <g key={one.name} className={STROKE[one.color]}>
              {stacked && (
                <path
                  d={`${path(one.values)}${path(one.floor)
                    .replace("M", "L")
                    .split("L")
                    .filter(Boolean)
                    .toReversed()
                    .map((point) => `L${point}`)
                    .join("")}Z`}
                  stroke="none"
                  fillOpacity={0.75}
                />
              )}
              <path
                d={path(one.values)}
                fill="none"
                strokeWidth={1.75}
                vectorEffect="non-scaling-stroke"
              />
            </g>
          ))}
        </svg>
        <span />
        <div className="mt-2 flex justify-between" aria-hidden>
          {[...new Set([dates[0], dates.at(-1)])].map((date) => (
            <span key={date}>{date && day(date, "short")}</span>
          ))}
        </div>
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1" aria-hidden>
        {series.map((one) => (
          <li key={one.name} className="flex items-center gap-1.5 text-xs text-ink-2">
            <span className={clsx("size-2 rounded-full", FILL[one.color])} /> {one.name}
          </li>
        ))}
      </ul>
      {/* In a box, because a table is never narrower than what it holds. */}
      <div className="sr-only">
        <table>
          <thead>
            <tr>
              <th>Date</th>
              {series.map((one) => (
                <th key={one.name}>{one.name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {dates.map((date, index) => (
              <tr key={date}>
                <th>{day(date, "short")}</th>
                {series.map((one) => (
                  <td key={one.name}>{one.values[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** Each series raised by those below it. */
function pile(series: readonly Series[]): (Series & { floor: readonly number[] })[] {
  let floor: readonly number[] = series[0]?.values.map(() => 0) ?? [];
  return series.map((one) => {
    const below = floor;
    floor = one.values.map((value, index) => value + (below[index] ?? 0));
    return { ...one, values: floor, floor: below };
  });
}

/** The next even number of one leading digit: 7 becomes 8, 23 becomes 40. */
function niceCeiling(value: number): number {
  const size = 10 ** Math.floor(Math.log10(value));
  const nice = [1, 2, 4, 6, 8, 10].find((step) => step * size >= value) ?? 10;
  return Math.max(2, nice * size);
}

interface HistogramProps {
  label: string;
  /** How many fall into each of equal parts of the range from 0 to 1. */
  values: readonly number[];
  /** Of the middle of a part. */
  tone: (middle: number) => "good" | "warn" | "bad";
}

/** How values between 0 and 1 are spread. */
export function Histogram({ label, values, tone }: HistogramProps) {
  const most = Math.max(1, ...values);
  const edge = (index: number) => `${Math.round((index / values.length) * 100)} %`;
  const parts = values.map((value, index) => `${edge(index)} to ${edge(index + 1)}: ${value}`);
  return (
    <figure>
      <div
        role="img"
        aria-label={`${label}. ${parts.join(", ")}`}
        className="flex h-32 items-end gap-0.5 border-b"
      >
        {values.map((value, index) => (
          <div
            key={index}
            title={`${edge(index)} to ${edge(index + 1)}: ${count(value)}`}
            className="flex h-full min-w-0 flex-1 items-end"
          >
            <div
              className={clsx(
                "w-full rounded-t-sm",
                value > 0 && "min-h-0.5",
                FILL[tone((index + 0.5) / values.length)],
              )}
              style={{ height: `${(value / most) * 100}%` }}
            />
          </div>
        ))}
      </div>
      <figcaption className="mt-1.5 flex justify-between text-xs text-ink-3" aria-hidden>
        <span>0</span>
        <span>50 %</span>
        <span>100 %</span>
      </figcaption>
    </figure>
  );
}
