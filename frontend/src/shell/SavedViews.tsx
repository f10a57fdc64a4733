import { useNavigate } from "@tanstack/react-router";
import { BookmarkPlus, X } from "lucide-react";
import { useState } from "react";
import { isFiltered } from "@/shell/filters";
import { keptPast } from "@/shell/past";
import { useStored } from "@/shell/stored";
import { IconButton } from "@/ui/Button";
import { Input, Select } from "@/ui/Field";

interface SavedViewsProps {
  /** Each page has views of its own. */
  page: string;
  /** The tab, filters and order of now. */
  search: object;
}

type Views = Record<string, Record<string, unknown>>;

/** Filters under a name, kept by this browser: choose one, save what is set now, delete one. */
export function SavedViews({ page, search }: SavedViewsProps) {
  const [stored, keep] = useStored(`views-${page}`, localStorage);
  const [naming, setNaming] = useState(false);
  const navigate = useNavigate();
  const views = read(stored);
  const names = Object.keys(views).sort();
  const now = written(search);
  const shown = names.find((name) => written(views[name]!) === now);
  const change = (views: Views) => keep(JSON.stringify(views));
  const show = (name: string | undefined) =>
    void navigate({
      to: ".",
      search: (before) => ({ ...keptPast(before), ...(name && views[name]) }),
      resetScroll: false,
    });
  const save = (name: string) => {
    if (name) change({ ...views, [name]: JSON.parse(now) as Views[string] });
    setNaming(false);
  };
  const remove = (name: string) => {
    const { [name]: _, ...others } = views;
    change(others);
  };
  if (naming) return <NameBox onName={save} onCancel={() => setNaming(false)} />;
  return (
    <>
      {names.length > 0 && (
        <Select
          label="Saved views"
          any="Saved views"
          value={shown}
          onChange={show}
          options={names.map((name) => ({ value: name, label: name }))}
        />
      )}
      {shown ? (
        <IconButton
          label={`Delete the view ${shown}`}
          title="Delete this view"
          onClick={() => remove(shown)}
        >
          <X />
        </IconButton>
      ) : (
        isFiltered(search) && (
          <IconButton
            label="Save this view"
            title="Save these filters as a view"
            onClick={() => setNaming(true)}
          >
            <BookmarkPlus />
          </IconButton>
        )
      )}
    </>
  );
}

interface NameBoxProps {
  onName: (name: string) => void;
  onCancel: () => void;
}

function NameBox({ onName, onCancel }: NameBoxProps) {
  return (
    <Input
      aria-label="Name of this view"
      placeholder="Name, then Enter"
      maxLength={40}
      autoFocus
      onBlur={onCancel}
      onKeyDown={(event) => {
        if (event.key === "Enter") onName(event.currentTarget.value.trim());
        if (event.key === "Escape") onCancel();
      }}
    />
  );
}

/** In one order, so that equal views are equal texts. */
function written(search: object): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined);
  return JSON.stringify(Object.fromEntries(set.sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** What the browser kept; nothing where that cannot be read. */
function read(stored: string | null): Views {
  try {
    const views: unknown = JSON.parse(stored ?? "{}");
    return typeof views === "object" && views !== null && !Array.isArray(views)
      ? (views as Views)
      : {};
  } catch {
    return {};
  }
}
