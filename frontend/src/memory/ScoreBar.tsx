import clsx from "clsx";

/** The parts of the composite score (SCORE-01), in the order of their weights. */
const PARTS = [
  { name: "relevance", fill: "bg-chart-1" },
  { name: "importance", fill: "bg-chart-2" },
  { name: "recency", fill: "bg-chart-3" },
  { name: "confidence", fill: "bg-chart-4" },
] as const;

interface ScoreBarProps {
  scores:
    { score: number; explain?: Record<string, number | boolean | null> | null } | null | undefined;
  /** The score that fills the whole width. */
  most: number;
}

/**
 * A score as its parts, side by side; each part already counts the relevance and the weight of the
 * rule's maturity, which multiply them all, so that the lengths add up to what the memories are ordered
 * by. An episode has one part: its fused rank.
 */
export function ScoreBar({ scores, most }: ScoreBarProps) {
  if (!scores) return null;
  const explained = scores.explain ?? {};
  const maturity = Number(explained["maturity_weight"] ?? 1);
  const relevance = Number(explained["relevance"] ?? 1);
  const parts = PARTS.map(({ name, fill }) => ({
    name,
    fill,
    share: Number(explained[`${name}_contribution`] ?? 0) * maturity * relevance,
  }));
  const told = parts.map(({ name, share }) => `${name} ${share.toFixed(3)}`);
  told.push(`all times a relevance of ${relevance.toFixed(2)}`);
  if (maturity !== 1) told.push(`maturity counted ${maturity} times`);
  const composite = explained["composite"] !== undefined;
  return (
    <div
      className="mt-2 flex items-center gap-2"
      title={composite ? told.join(" + ") : "fused rank of both searches"}
    >
      <div
        role="img"
        aria-label={`Score ${scores.score.toFixed(3)}${composite ? `: ${told.join(", ")}` : ""}`}
        className="flex h-2 flex-1 overflow-hidden rounded-full bg-line"
      >
        {composite ? (
          parts.map(({ name, fill, share }) => (
            <div
              key={name}
              className={clsx("h-full", fill)}
              style={{ width: `${(100 * Math.max(0, share)) / most}%` }}
            />
          ))
        ) : (
          <div className="h-full bg-chart-5" style={{ width: `${(100 * scores.score) / most}%` }} />
        )}
      </div>
      <span className="w-11 text-right text-xs text-ink-2">{scores.score.toFixed(3)}</span>
    </div>
  );
}

/** Which colour is which part. */
export function ScoreLegend() {
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1">
      {PARTS.map(({ name, fill }) => (
        <span key={name} className="inline-flex items-center gap-1.5">
          <span aria-hidden className={clsx("size-2 rounded-full", fill)} />
          {name}
        </span>
      ))}
    </span>
  );
}
