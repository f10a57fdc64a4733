import { count, words } from "@/ui/format";

/** What a job reports: figures by name, some of them grouped. */
export function Figures({ detail }: { detail: Record<string, unknown> }) {
  // Whether it only counted is said above the figures.
  const told = Object.entries(detail).filter(
    ([name, value]) => name !== "dry_run" && !isNothing(value),
  );
  if (told.length === 0) return <p className="text-ink-3">Nothing was to be done.</p>;
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-1">
      {told.map(([name, value]) => (
        <div key={name} className="flex min-w-0 gap-1.5">
          <dt className="text-ink-3">{words(name)}</dt>
          <dd className="memory-text min-w-0">{said(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing);
  if (typeof value === "object" && value !== null) return Object.values(value).every(isNothing);
  return value === null || value === 0 || value === "" || value === false;
}

function said(value: unknown): string {
  if (typeof value === "number") return count(value);
  if (Array.isArray(value)) return value.map(said).join("; ");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .filter(([, inner]) => !isNothing(inner))
      .map(([name, inner]) => `${words(name)} ${said(inner)}`)
      .join(", ");
  return String(value);
}
