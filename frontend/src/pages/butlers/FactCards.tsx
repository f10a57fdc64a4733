import clsx from "clsx";
import { ArrowRight } from "lucide-react";
import type { ListedFact } from "@/pages/facts/queries";
import { FactState } from "@/shell/FactState";
import { MemoryLink } from "@/shell/MemoryLink";
import { PERMANENCE_MEANING } from "@/shell/vocabulary";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { plural, words } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";

/** Facts as cards under their subjects; they come in the order of these (DASH-02). */
export function FactCards({ facts }: { facts: readonly ListedFact[] }) {
  const subjects = Map.groupBy(facts, (one) => one.subject);
  return (
    <div className="space-y-6">
      {[...subjects].map(([subject, about]) => (
        <section key={subject} aria-label={subject}>
          <h2 className="mb-2 flex items-baseline gap-2">
            <span className="memory-text font-semibold">{subject}</span>
            <span className="shrink-0 text-xs text-ink-3">{plural(about.length, "fact")}</span>
          </h2>
          <ul className="grid gap-3 sm:grid-cols-2">
            {about.map((one) => (
              <FactCard key={one.id} fact={one} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function FactCard({ fact }: { fact: ListedFact }) {
  const isPast = fact.validity !== "active";
  return (
    <li className="flex min-w-0 flex-col rounded-xl border bg-surface p-4 shadow-card">
      <div className="mb-1.5 flex flex-wrap items-center gap-1.5">
        <Badge>{fact.subject}</Badge>
        <span className="min-w-0 truncate text-xs text-ink-3">{words(fact.predicate)}</span>
        <span className="ml-auto flex gap-1.5">
          {fact.scope !== "global" && <Badge tone="accent">{fact.scope}</Badge>}
          <FactState state={fact.lifecycle_state} />
        </span>
      </div>
      <MemoryLink kind="fact" id={fact.id} className="hover:underline">
        <span className={clsx("memory-text line-clamp-4", isPast && "text-ink-3 line-through")}>
          {fact.content}
        </span>
      </MemoryLink>
      {fact.superseded_by && (
        <MemoryLink
          kind="fact"
          id={fact.superseded_by}
          className="mt-1 inline-flex items-center gap-1 text-xs font-medium text-accent-ink hover:underline [&_svg]:size-3"
        >
          <ArrowRight aria-hidden /> what replaced it
        </MemoryLink>
      )}
      <div className="mt-auto flex flex-wrap items-center justify-between gap-x-3 gap-y-1 pt-3">
        <ConfidenceBar effective={fact.effective_confidence} base={fact.confidence} />
        <span className="flex items-center gap-2 text-xs text-ink-3">
          <Badge title={PERMANENCE_MEANING[fact.permanence]}>{fact.permanence}</Badge>
          <span>
            confirmed <TimeAgo at={fact.last_confirmed_at} />
          </span>
        </span>
      </div>
    </li>
  );
}
