import { useQuery } from "@tanstack/react-query";
import { ScanSearch, SearchX } from "lucide-react";
import type { Schemas } from "@/api/client";
import { EntityIcon } from "@/pages/entities/columns";
import { candidates } from "@/pages/entities/queries";
import type { EntitiesSearch } from "@/pages/entities/route";
import { MemoryLink } from "@/shell/MemoryLink";
import { ENTITY_TYPES } from "@/shell/vocabulary";
import { Badge } from "@/ui/Badge";
import { EmptyState } from "@/ui/EmptyState";
import { choices, SearchBox, Select } from "@/ui/Field";
import { SkeletonRows } from "@/ui/Skeleton";

type Candidate = Schemas["EntityCandidate"];

const TIERS: Record<Candidate["name_match"], { title: string; base: number }> = {
  exact: { title: "The name itself", base: 100 },
  alias: { title: "An alias", base: 80 },
  prefix: { title: "Part of a name or alias", base: 50 },
  fuzzy: { title: "A similar name", base: 20 },
};

// A score at which a bar is full: the name itself, with every hint in its favour.
const FULL = 120;

interface ResolvePlaygroundProps {
  search: EntitiesSearch;
  onChange: (part: Partial<EntitiesSearch>) => void;
}

/** What an agent gets when it resolves a name: the candidates, their tiers and scores. */
export function ResolvePlayground({ search, onChange }: ResolvePlaygroundProps) {
  const { data: found } = useQuery(candidates(search));
  return (
    <>
      <div className="mb-5 flex flex-wrap items-center gap-2">
        <SearchBox
          label="Name"
          placeholder="A name as somebody said it"
          value={search.name ?? ""}
          onChange={(name) => onChange({ name: name || undefined })}
          className="min-w-52 flex-1"
          slash
        />
        <SearchBox
          label="What the talk is about"
          placeholder="What the talk is about"
          value={search.topic ?? ""}
          onChange={(topic) => onChange({ topic: topic || undefined })}
          className="min-w-52 flex-1"
        />
        <Select
          label="Type"
          any="Any type"
          value={search.entity_type}
          onChange={(entity_type) => onChange({ entity_type })}
          options={choices(ENTITY_TYPES)}
        />
        <label className="flex h-8 items-center gap-2 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={search.fuzzy === "yes"}
            onChange={(event) => onChange({ fuzzy: event.target.checked ? "yes" : undefined })}
          />
          Also similar names
        </label>
      </div>
      {!search.name ? (
        <EmptyState icon={ScanSearch} title="Type a name">
          See what an agent gets when it resolves a name: the candidates, how each name matched, and
          what in the conversation speaks for each.
        </EmptyState>
      ) : !found ? (
        <SkeletonRows rows={3} className="h-16" />
      ) : found.length === 0 ? (
        <EmptyState icon={SearchX} title="No results">
          An agent would register a new entity now. Similar names are tried only when asked for.
        </EmptyState>
      ) : (
        <ol
          aria-label="Candidates"
          className="divide-y overflow-clip rounded-xl border bg-surface shadow-card"
        >
          {found.map((one, index) => (
            <CandidateLine key={one.entity_id} candidate={one} isFirst={index === 0} />
          ))}
        </ol>
      )}
    </>
  );
}

function CandidateLine({ candidate, isFirst }: { candidate: Candidate; isFirst: boolean }) {
  const { title, base } = TIERS[candidate.name_match];
  const hints = candidate.score - base;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 hover:bg-sunken">
      <EntityIcon type={candidate.entity_type} />
      <div className="min-w-0 flex-1 basis-48">
        <MemoryLink
          kind="entity"
          id={candidate.entity_id}
          className="memory-text font-medium hover:underline"
        >
          {candidate.canonical_name}
        </MemoryLink>
        <p className="memory-text text-xs text-ink-3">
          {candidate.aliases.length > 0 ? `also ${candidate.aliases.join(", ")}` : "no other names"}
        </p>
      </div>
      {isFirst && <Badge tone="good">best match</Badge>}
      <div className="w-52 max-sm:flex-1 max-sm:basis-40">
        <div className="flex items-baseline justify-between text-xs text-ink-2">
          <span>{title}</span>
          <b className="text-base font-semibold text-ink">{candidate.score.toFixed(1)}</b>
        </div>
        <div
          role="img"
          aria-label={`Score ${candidate.score.toFixed(1)}: ${base} for the name, ${hints.toFixed(1)} for the hints`}
          title={`${base} for the name, ${hints.toFixed(1)} for the hints`}
          className="mt-1 flex h-1.5 overflow-hidden rounded-full bg-line"
        >
          <div className="bg-accent" style={{ width: `${(base / FULL) * 100}%` }} />
          <div className="bg-chart-3" style={{ width: `${(Math.max(0, hints) / FULL) * 100}%` }} />
        </div>
      </div>
    </li>
  );
}
