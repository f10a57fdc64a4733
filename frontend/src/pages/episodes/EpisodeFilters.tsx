import { ButlerSelect } from "@/memory/ButlerSelect";
import type { EpisodesSearch } from "@/pages/episodes/route";
import { DayBox, SearchBox, Select } from "@/ui/Field";

const ORDERS = [
  { value: "oldest", label: "Oldest first" },
  { value: "important", label: "Most important first" },
] as const;

interface EpisodeFiltersProps {
  search: EpisodesSearch;
  onChange: (part: Partial<EpisodesSearch>) => void;
}

/** Butler, days and words; what state they are in is chosen by the tabs (DASH-09). */
export function EpisodeFilters({ search, onChange }: EpisodeFiltersProps) {
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2 max-sm:[&>*]:grow">
      <SearchBox
        label="Search these episodes"
        placeholder="Words of an episode"
        value={search.q ?? ""}
        onChange={(q) => onChange({ q: q || undefined })}
        className="min-w-52 flex-1"
        slash
      />
      <ButlerSelect value={search.butler} onChange={(butler) => onChange({ butler })} />
      <DayBox label="from" value={search.from} onChange={(from) => onChange({ from })} />
      <DayBox label="to" value={search.to} onChange={(to) => onChange({ to })} />
      <Select
        label="Order"
        any="Newest first"
        value={search.order}
        onChange={(order) => onChange({ order })}
        options={ORDERS}
      />
    </div>
  );
}
