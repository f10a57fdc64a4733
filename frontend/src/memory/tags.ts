/** The tags of what one typed with commas between them. */
export function tagsOf(typed: string): string[] {
  return typed
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}
