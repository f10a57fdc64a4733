/** Days of the reader's own time zone, as the moments that the API asks for. */

/** The reader's time zone, by its IANA name. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** When a day ("2026-03-14") begins. */
export function dayBegins(day: string): string {
  return new Date(`${day}T00:00:00`).toISOString();
}

/** The last moment of a day: the API counts both ends of a span as within it. */
export function dayEnds(day: string): string {
  return new Date(`${day}T23:59:59.999`).toISOString();
}

/** A span of the query string as one of the API. */
export function span({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  return { from: from && dayBegins(from), to: to && dayEnds(to) };
}

/** The day of a moment, as "2026-03-14". */
export function dayOf(moment: Date): string {
  const [year, month, day] = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
