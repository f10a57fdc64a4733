import { Badge } from "@/ui/Badge";

/** The tags of a memory, or that there are none. */
export function TagList({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return <span className="text-ink-3">none</span>;
  return (
    <span className="flex flex-wrap gap-1">
      {tags.map((one) => (
        <Badge key={one}>{one}</Badge>
      ))}
    </span>
  );
}
