import clsx from "clsx";
import type { FragmentChange } from "@/pages/journal/queries";
import { Badge, type Tone } from "@/ui/Badge";

const CHANGES: Record<FragmentChange["change"], Tone> = {
  created: "good",
  changed: "accent",
  deleted: "bad",
};

/** What a run did to a fragment, line by line. */
export function Diff({ change }: { change: FragmentChange }) {
  return (
    <section className="overflow-hidden rounded-lg border">
      <header className="flex items-center gap-2 border-b bg-sunken px-3 py-1.5">
        <span className="font-mono text-xs font-medium">{change.key}</span>
        <Badge tone={CHANGES[change.change]}>{change.change}</Badge>
      </header>
      <div className="max-h-80 overflow-y-auto py-1 font-mono text-xs leading-5">
        {change.lines.map((line, index) => (
          <p
            key={index}
            className={clsx(
              "memory-text px-3",
              line.startsWith("+ ") && "bg-good-soft text-good-ink",
              line.startsWith("- ") && "bg-bad-soft text-bad-ink",
            )}
          >
            {line}
          </p>
        ))}
      </div>
    </section>
  );
}
