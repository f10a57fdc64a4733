import { ButlerSelect } from "@/memory/ButlerSelect";
import { CATEGORIES, CATEGORY_TITLES, EVENT_TYPES, kindsOf, titleOf } from "@/pages/timeline/kinds";
import type { TimelineSearch } from "@/pages/timeline/route";
import { DayBox, Select } from "@/ui/Field";

interface TimelineFiltersProps {
  search: TimelineSearch;
  onChange: (part: Partial<TimelineSearch>) => void;
}

/** What it is about, one kind of event, who, and when. */
export function TimelineFilters({ search, onChange }: TimelineFiltersProps) {
  const kinds = search.about ? kindsOf(search.about) : EVENT_TYPES;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2 max-sm:[&>*]:grow">
      <Select
        label="About"
        any="About anything"
        value={search.about}
        // A kind of another category would find nothing.
        onChange={(about) => onChange({ about, kind: undefined })}
        options={CATEGORIES.map((value) => ({ value, label: CATEGORY_TITLES[value] }))}
      />
      <Select
        label="Kind of event"
        any="Any kind of event"
        value={search.kind}
        onChange={(kind) => onChange({ kind })}
        options={kinds.map((value) => ({ value, label: titleOf(value) }))}
      />
      <ButlerSelect value={search.butler} onChange={(butler) => onChange({ butler })} />
      <DayBox label="from" value={search.from} onChange={(from) => onChange({ from })} />
      <DayBox label="to" value={search.to} onChange={(to) => onChange({ to })} />
    </div>
  );
}
