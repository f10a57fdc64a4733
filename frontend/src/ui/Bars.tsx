import clsx from "clsx";
import { percent } from "@/ui/format";

/** Green above 0.8, yellow from 0.5 to 0.8 with both ends, red below (C-85). */
export function confidenceTone(effective: number): "good" | "warn" | "bad" {
  if (effective > 0.8) return "good";
  return effective >= 0.5 ? "warn" : "bad";
}

const FILL = { good: "bg-good", warn: "bg-warn", bad: "bg-bad", accent: "bg-accent" };

interface MeterProps {
  label: string;
  /** From 0 to 1. */
  value: number;
  tone: keyof typeof FILL;
  title?: string;
}

function Meter({ label, value, tone, title }: MeterProps) {
  const bounded = Math.min(1, Math.max(0, value));
  return (
    <div className="flex items-center gap-2" title={title}>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={1}
        aria-valuenow={Number(bounded.toFixed(3))}
        className="h-1.5 w-16 shrink-0 overflow-hidden rounded-full bg-line"
      >
        <div
          className={clsx("h-full rounded-full", FILL[tone])}
          style={{ width: `${bounded * 100}%` }}
        />
      </div>
      <span className="w-10 text-right text-xs whitespace-nowrap text-ink-2">
        {percent(bounded)}
      </span>
    </div>
  );
}

interface ConfidenceBarProps {
  /** After decay; what the bar shows. */
  effective: number;
  /** As stored. */
  base: number;
}

export function ConfidenceBar({ effective, base }: ConfidenceBarProps) {
  return (
    <Meter
      label="Effective confidence"
      value={effective}
      tone={confidenceTone(effective)}
      title={`Effective confidence ${effective.toFixed(3)}, of ${base.toFixed(3)} when last confirmed`}
    />
  );
}

interface EffectivenessBarProps {
  effectiveness: number;
  applied: number;
}

/** A rule that was never applied has no effectiveness to show. */
export function EffectivenessBar({ effectiveness, applied }: EffectivenessBarProps) {
  if (applied === 0) return <span className="text-xs text-ink-3">not applied yet</span>;
  return (
    <Meter
      label="Effectiveness"
      value={effectiveness}
      tone={effectiveness >= 0.6 ? "good" : effectiveness >= 0.3 ? "warn" : "bad"}
      title={`Effectiveness ${effectiveness.toFixed(3)} over ${applied} applications`}
    />
  );
}
