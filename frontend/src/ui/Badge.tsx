import clsx from "clsx";
import type { ReactNode } from "react";

export type Tone = "neutral" | "accent" | "good" | "warn" | "bad";

const TONES: Record<Tone, string> = {
  neutral: "bg-sunken text-ink-2",
  accent: "bg-accent-soft text-accent-ink",
  good: "bg-good-soft text-good-ink",
  warn: "bg-warn-soft text-warn-ink",
  bad: "bg-bad-soft text-bad-ink",
};

interface BadgeProps {
  tone?: Tone;
  /** Why it is there, on hover. */
  title?: string;
  children: ReactNode;
}

export function Badge({ tone = "neutral", title, children }: BadgeProps) {
  const text = typeof children === "string" ? children : undefined;
  return (
    <span
      title={title ?? text}
      className={clsx(
        "inline-flex max-w-[min(12rem,100%)] items-center gap-1 overflow-hidden rounded-full px-2 py-0.5",
        "text-xs font-medium whitespace-nowrap [&_svg]:size-3 [&_svg]:shrink-0",
        TONES[tone],
      )}
    >
      {text === undefined ? children : <span className="truncate">{text}</span>}
    </span>
  );
}
