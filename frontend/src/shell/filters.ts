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

/** The given filters alone, so that the URL names what was chosen and nothing else. */
export function given<Filters extends object>(
  filters: Filters,
): { [Key in keyof Filters]?: Filters[Key] | undefined } {
  return Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== undefined),
  ) as Filters;
}
