import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@/api/client";
import { calibration } from "@/pages/overview/queries";
import { Card } from "@/ui/Card";
import { percent, plural } from "@/ui/format";
import { Skeleton } from "@/ui/Skeleton";

type Found = Schemas["CalibrationOutput"];
type Bin = Schemas["CalibrationBin"];

/** Whether memory is as sure as it should be: what it claimed against what came of it. */
export function Calibration() {
  const { data } = useQuery(calibration);
  return (
    <Card
      title="Calibration"
      note="Confidence just before somebody confirmed, corrected or forgot, against the outcome"
    >
      {!data ? (
        <Skeleton className="h-56 w-full" />
      ) : data.brier === null ? (
        <p className="text-ink-2">
          Nobody had a say on a fact or rule within a year. Confirm what still holds, correct what
          does not, and report which rules helped: then it shows here.
        </p>
      ) : (
        <Outcomes found={data} brier={data.brier} />
      )}
    </Card>
  );
}

function Outcomes({ found, brier }: { found: Found; brier: number }) {
  const base = found.base_rate_brier ?? 0;
  return (
    <div className="grid items-center gap-6 sm:grid-cols-[15rem_minmax(0,1fr)]">
      <ReliabilityCurve bins={found.bins.filter((one) => one.outcomes > 0)} />
      <div>
        <dl className="grid grid-cols-2 gap-4">
          <Figure name="Brier score" title="Mean squared error of the confidence; 0 is best">
            {brier.toFixed(3)}
          </Figure>
          <Figure
            name="Baseline Brier score"
            title="The score of giving every memory the average confidence"
          >
            {base.toFixed(3)}
          </Figure>
          <Figure name="Claimed">{percent(found.claimed ?? 0)}</Figure>
          <Figure name="Held">{percent(found.held / found.outcomes)}</Figure>
        </dl>
        <p className="mt-4 text-sm text-ink-2">
          {plural(found.outcomes, "outcome")} of {plural(found.memories, "memory", "memories")}
          {found.complete ? "" : ", the newest"}.{" "}
          {brier < base
            ? "Confidence predicts better than a constant."
            : "Confidence predicts no better than a constant."}{" "}
          A point above the line held more often than was claimed, one below less often; its line is
          the range in which the true share lies with 95&nbsp;%.
        </p>
      </div>
    </div>
  );
}

interface FigureProps {
  name: string;
  title?: string;
  children: string;
}

function Figure({ name, title, children }: FigureProps) {
  return (
    <div title={title}>
      <dt className="text-sm text-ink-3">{name}</dt>
      <dd className="mt-0.5 text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  );
}

// Of the picture's square; a point is as large as it has outcomes, within bounds.
const SIZE = 200;
const [SMALLEST, LARGEST] = [3, 8];

/** The share that held over what was claimed, a point a tenth of the range. */
function ReliabilityCurve({ bins }: { bins: readonly Bin[] }) {
  const most = Math.max(...bins.map((one) => one.outcomes));
  const x = (claimed: number) => claimed * SIZE;
  const y = (rate: number) => (1 - rate) * SIZE;
  return (
    <figure aria-label="Reliability curve" className="text-xs text-ink-3">
      <p aria-hidden>held</p>
      <svg
        viewBox={`-10 -10 ${SIZE + 20} ${SIZE + 20}`}
        aria-hidden
        className="w-full max-w-60 overflow-visible"
      >
        <rect width={SIZE} height={SIZE} fill="none" className="stroke-line" />
        <line
          x1={0}
          y1={SIZE}
          x2={SIZE}
          y2={0}
          className="stroke-line-strong"
          strokeDasharray="4"
        />
        {bins.map((one) => (
          <g key={one.low} className="fill-chart-1 stroke-chart-1">
            <title>{told(one)}</title>
            <line
              x1={x(one.claimed ?? 0)}
              x2={x(one.claimed ?? 0)}
              y1={y(one.least ?? 0)}
              y2={y(one.most ?? 1)}
              strokeOpacity={0.5}
            />
            <circle
              cx={x(one.claimed ?? 0)}
              cy={y(one.rate ?? 0)}
              r={SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(one.outcomes / most)}
            />
          </g>
        ))}
      </svg>
      <p aria-hidden className="max-w-60 text-right">
        claimed
      </p>
      <ul className="sr-only">
        {bins.map((one) => (
          <li key={one.low}>{told(one)}</li>
        ))}
      </ul>
    </figure>
  );
}

function told({ claimed, rate, outcomes }: Bin): string {
  return `Of ${plural(outcomes, "claim")} of ${percent(claimed ?? 0)} on average, ${percent(rate ?? 0)} held`;
}
