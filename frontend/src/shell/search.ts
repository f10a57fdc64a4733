/** The query string as plain words: `?subject=user&permanence=stable`, as one would type it. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Its inverse; what is empty or unset is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  // A colon and a slash may stand there as they are, and read better so.
  return text && `?${text.replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
}
