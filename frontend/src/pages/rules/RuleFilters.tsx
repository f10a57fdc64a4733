import { SORTS, type RulesSearch } from "@/pages/rules/route";
import { MATURITIES } from "@/shell/vocabulary";
import { choices, SearchBox, Select } from "@/ui/Field";

interface RuleFiltersProps {
  search: Omit<RulesSearch, "show">;
  onChange: (part: Partial<RulesSearch>) => void;
}

const ORDERS: readonly { value: (typeof SORTS)[number]; label: string }[] = [
  { value: "applied", label: "Most applied" },
  { value: "confidence", label: "Most certain" },
  { value: "created", label: "Newest" },
];

/** Each lives in the URL. */
export function RuleFilters({ search, onChange }: RuleFiltersProps) {
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <SearchBox
        label="Search these rules"
        placeholder="Words of a rule"
        value={search.q ?? ""}
        onChange={(q) => onChange({ q: q || undefined })}
        className="min-w-52 flex-1"
        slash
      />
      <SearchBox
        label="Scope"
        placeholder="Any scope"
        value={search.scope ?? ""}
        onChange={(scope) => onChange({ scope: scope || undefined })}
        className="w-36"
      />
      <SearchBox
        label="Source butler"
        placeholder="Any butler"
        value={search.source_butler ?? ""}
        onChange={(source) => onChange({ source_butler: source || undefined })}
        className="w-36"
      />
      <Select
        label="Maturity"
        any="Any maturity"
        value={search.maturity}
        onChange={(maturity) => onChange({ maturity })}
        options={choices(MATURITIES)}
      />
      <Select
        label="Order"
        any="Most effective"
        value={search.sort}
        onChange={(sort) => onChange({ sort })}
        options={ORDERS}
      />
    </div>
  );
}
