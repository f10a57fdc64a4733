import clsx from "clsx";
import { ArrowRight } from "lucide-react";
import type { ListedFact } from "@/pages/facts/queries";
import { FactState } from "@/shell/FactState";
import { MemoryLink } from "@/shell/MemoryLink";
import { PERMANENCE_MEANING } from "@/shell/vocabulary";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { words } from "@/ui/format";
import type { Column } from "@/ui/Table";
import { TimeAgo } from "@/ui/TimeAgo";

export const FACT_COLUMNS: readonly Column<ListedFact>[] = [
  {
    key: "subject",
    title: "Subject",
    width: "9rem",
    wide: true,
    cell: (one) => <Badge>{one.subject}</Badge>,
  },
  { key: "fact", title: "Fact", width: "minmax(0,1fr)", cell: (one) => <Said fact={one} /> },
  {
    key: "permanence",
    title: "Permanence",
    width: "6rem",
    wide: true,
    cell: (one) => (
      <span className="text-sm text-ink-2" title={PERMANENCE_MEANING[one.permanence]}>
        {one.permanence}
      </span>
    ),
  },
  {
    key: "confidence",
    title: "Confidence",
    sort: "confidence",
    width: "7rem",
    cell: (one) => <ConfidenceBar effective={one.effective_confidence} base={one.confidence} />,
  },
  {
    key: "confirmed",
    title: "Last confirmed",
    sort: "confirmed",
    width: "7rem",
    wide: true,
    align: "right",
    cell: (one) => (
      <span className="text-sm text-ink-2">
        <TimeAgo at={one.last_confirmed_at} />
      </span>
    ),
  },
];

function Said({ fact }: { fact: ListedFact }) {
  const isPast = fact.validity !== "active";
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-center gap-x-2 text-xs text-ink-3">
        <span className="truncate @3xl:hidden">{fact.subject}</span>
        <span className="truncate">{words(fact.predicate)}</span>
        {fact.scope !== "global" && <span className="truncate">in {fact.scope}</span>}
        <FactState state={fact.lifecycle_state} />
      </div>
      <p className={clsx("memory-text line-clamp-2", isPast && "text-ink-3 line-through")}>
        {fact.content}
      </p>
      {fact.superseded_by && (
        <MemoryLink
          kind="fact"
          id={fact.superseded_by}
          className="inline-flex items-center gap-1 text-xs font-medium text-accent-ink hover:underline [&_svg]:size-3"
        >
          <ArrowRight aria-hidden /> what replaced it
        </MemoryLink>
      )}
    </div>
  );
}
