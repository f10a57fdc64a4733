const WHOLE = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
// The month in letters: read alike by who writes the day first and by who writes the month first.
const DATES = {
  short: dates({ day: "numeric", month: "short" }),
  medium: dates({ day: "numeric", month: "short", year: "numeric" }),
  long: dates({ day: "numeric", month: "long", year: "numeric" }),
  full: dates({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
  exact: dates({ dateStyle: "long", timeStyle: "long" }),
};

function dates(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", options);
}
// "Last month" may be two months ago by the calendar; "yesterday" is counted by it.
const AGO = new Intl.RelativeTimeFormat("en");
const DAYS_AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** 12345 as "12,345"; from a hundred thousand on as "123.5K". */
export function count(value: number): string {
  return value < 100_000 ? WHOLE.format(value) : COMPACT.format(value);
}

/** 0.87 as "87 %" on one line, always rounded down to 99 below 1: only certainty is shown as such. */
export function percent(value: number): string {
  const rounded = Math.round(value * 100);
  return `${rounded === 100 && value < 1 ? 99 : rounded}\u00a0%`;
}

/** "3 days ago", "in 2 hours", "just now"; days are those of the reader's time zone. */
export function relative(moment: Date, now: Date): string {
  const seconds = (moment.getTime() - now.getTime()) / 1000;
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size);
  if (!step) return "just now";
  const [unit, size] = step;
  if (unit === "day") return DAYS_AGO.format(daysBetween(now, moment), unit);
  return AGO.format(Math.trunc(seconds / size), unit);
}

function daysBetween(from: Date, to: Date): number {
  const midnight = (of: Date) => new Date(of).setHours(0, 0, 0, 0);
  // Rounded: a day on which the clocks change is shorter or longer.
  return Math.round((midnight(to) - midnight(from)) / 86_400_000);
}

/**
 * "3 Nov", "3 Nov 2026", "3 November 2026" or "Tuesday 3 November 2026": the day of a moment in the reader's time
 * zone, or a day that is given as "2026-11-03", with a time or without.
 */
export function day(
  of: Date | number | string,
  style: "short" | "medium" | "long" | "full" = "medium",
): string {
  // At noon: midnight in London is the day before in New York.
  return DATES[style].format(typeof of === "string" ? new Date(`${of.slice(0, 10)}T12:00:00`) : of);
}

/** "3 November 2026 at 14:05:09 WET". */
export function exact(moment: Date): string {
  return DATES.exact.format(moment);
}

// Enough to tell one row from the next when it is read aloud.
const ALOUD = 80;

/** The beginning of a text, for reading aloud. */
export function shortened(text: string): string {
  const letters = [...text];
  return letters.length > ALOUD ? `${letters.slice(0, ALOUD - 1).join("")}…` : text;
}

/** "anti_pattern" as "anti-pattern", "dead_letter" as "dead letter". */
export function words(name: string): string {
  return name.replaceAll("_", name === "anti_pattern" ? "-" : " ");
}

/** How long a list is: "3 facts", or "at least 501 facts" where it was not counted to its end. */
export function lengthOf(
  list: { total: number; total_is_exact: boolean },
  noun: string,
  many?: string,
): string {
  return `${list.total_is_exact ? "" : "at least "}${plural(list.total, noun, many)}`;
}

/** One thing or many: `plural(3, "fact")` is "3 facts". */
export function plural(number: number, noun: string, many = `${noun}s`): string {
  return `${count(number)} ${number === 1 ? noun : many}`;
}
