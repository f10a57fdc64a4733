import { X } from "lucide-react";
import type { FactsSearch } from "@/pages/facts/route";
import { PERMANENCES } from "@/shell/vocabulary";
import { Button } from "@/ui/Button";
import { choices, SearchBox, Select } from "@/ui/Field";

interface FactFiltersProps {
  search: Omit<FactsSearch, "show">;
  onChange: (part: Partial<FactsSearch>) => void;
}

const CONFIDENCES = [
  { value: "0.8", label: "80 % or more" },
  { value: "0.5", label: "50 % or more" },
  { value: "0.2", label: "20 % or more" },
] as const;

const SORTS = [
  { value: "confidence", label: "Most certain first" },
  { value: "confirmed", label: "Latest confirmed first" },
  { value: "importance", label: "Most important first" },
  { value: "references", label: "Most used first" },
] as const;

/** The filters of DASH-06; each lives in the URL. */
export function FactFilters({ search, onChange }: FactFiltersProps) {
  return (
    <div className="mb-3 grid grid-cols-2 gap-2 md:flex md:flex-wrap">
      <SearchBox
        label="Search these facts"
        placeholder="Words of a fact"
        value={search.q ?? ""}
        onChange={(q) => onChange({ q: q || undefined })}
        className="col-span-2 min-w-44 flex-1"
        slash
      />
      <SearchBox
        label="Subject"
        placeholder="Any subject"
        value={search.subject ?? ""}
        onChange={(subject) => onChange({ subject: subject || undefined })}
        className="md:w-32"
      />
      <SearchBox
        label="Source butler"
        placeholder="Any butler"
        value={search.source_butler ?? ""}
        onChange={(source) => onChange({ source_butler: source || undefined })}
        className="md:w-32"
      />
      <SearchBox
        label="Scope"
        placeholder="Any scope"
        value={search.scope ?? ""}
        onChange={(scope) => onChange({ scope: scope || undefined })}
        className="md:w-32"
      />
      <Select
        label="Permanence"
        any="Any permanence"
        value={search.permanence}
        onChange={(permanence) => onChange({ permanence })}
        options={choices(PERMANENCES)}
      />
      <Select
        label="Confidence"
        any="Any confidence"
        value={CONFIDENCES.find((one) => Number(one.value) === search.min_confidence)?.value}
        onChange={(least) => onChange({ min_confidence: least && Number(least) })}
        options={CONFIDENCES}
      />
      {search.entity && (
        <Button onClick={() => onChange({ entity: undefined })}>
          Of one entity <X aria-hidden />
        </Button>
      )}
    </div>
  );
}

/** What the list is ordered by. */
export function FactOrder({ search, onChange }: FactFiltersProps) {
  return (
    <Select
      label="Order"
      any="Newest first"
      value={SORTS.find((one) => one.value === search.sort)?.value}
      onChange={(sort) => onChange({ sort })}
      options={SORTS}
    />
  );
}
