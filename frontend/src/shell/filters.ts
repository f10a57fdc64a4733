/** Reading the query string of a page; what is not understood counts as not given. */

export function oneOf<Value extends string>(
  values: readonly Value[],
  given: unknown,
): Value | undefined {
  return values.find((one) => one === given);
}

export function text(given: unknown): string | undefined {
  return typeof given === "string" && given.trim() ? given : undefined;
}

export function number(given: unknown, least: number, most: number): number | undefined {
  const value = typeof given === "string" || typeof given === "number" ? Number(given) : NaN;
  return given !== "" && value >= least && value <= most ? value : undefined;
}

/** A day as "2026-03-14". */
export function day(given: unknown): string | undefined {
  const isDay = typeof given === "string" && /^\d{4}-\d{2}-\d{2}$/.test(given);
  return isDay && !Number.isNaN(Date.parse(given)) ? given : undefined;
}

/** The id of something. */
export function uuid(given: unknown): string | undefined {
  const isUuid =
    typeof given === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given);
  return isUuid ? given : undefined;
}

// What the root route reads.
const EVERYWHERE = ["open", "known_at", "as_of"] as const;
const OF_EVERY_PAGE: ReadonlySet<string> = new Set(EVERYWHERE);

/** What an address says of its own page alone. */
export function own<Search extends object>(
  search: Search,
): Omit<Search, (typeof EVERYWHERE)[number]> {
  const entries = Object.entries(search).filter(([name]) => !OF_EVERY_PAGE.has(name));
  return Object.fromEntries(entries) as Omit<Search, (typeof EVERYWHERE)[number]>;
}

/**
 * The filters of a page. The router keeps whatever else the address says, so that it is unset here:
 * the API would refuse what it does not know.
 */
export function given<Filters extends object>(
  search: Record<string, unknown>,
  filters: Filters,
): { [Key in keyof Filters]?: Filters[Key] | undefined } {
  const others = Object.keys(search).filter((name) => !OF_EVERY_PAGE.has(name));
  return { ...Object.fromEntries(others.map((name) => [name, undefined])), ...filters };
}

/** Whether any of these filters is set. */
export function isFiltered(filters: object): boolean {
  return Object.values(filters).some((one) => one !== undefined);
}
