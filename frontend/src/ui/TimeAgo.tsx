import { useSyncExternalStore } from "react";
import { exact, relative } from "@/ui/format";

// One clock for all of them, so that a page of dates does not keep a timer each.
const listeners = new Set<() => void>();
let now = new Date();
let timer: number | undefined;

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) now = new Date();
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    now = new Date();
    listeners.forEach((one) => one());
  }, 30_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The present, to half a minute. */
export function useNow(): Date {
  return useSyncExternalStore(subscribe, () => now);
}

interface TimeAgoProps {
  /** An ISO date; nothing is shown as `never`. */
  at: string | null | undefined;
  never?: string;
}

/** "3 days ago", with the exact time on hover. */
export function TimeAgo({ at, never = "never" }: TimeAgoProps) {
  const present = useNow();
  if (!at) return <span className="text-ink-3">{never}</span>;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exact(moment)} className="whitespace-nowrap">
      {relative(
        moment,
        present < moment && moment.getTime() - present.getTime() < 60_000 ? moment : present,
      )}
    </time>
  );
}
