/** A part of a list, as every list of the API answers. */
interface Part {
  offset: number;
  total: number;
  items: readonly unknown[];
}

/** Where the next part begins; undefined after the last one. */
export function nextOffset({ offset, total, items }: Part): number | undefined {
  const next = offset + items.length;
  return next < total && items.length > 0 ? next : undefined;
}
