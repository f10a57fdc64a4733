import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookmarkPlus, X } from "lucide-react";
import { useState } from "react";
import { isFiltered } from "@/shell/filters";
import { keptPast } from "@/shell/past";
import { session } from "@/shell/session";
import { useStored } from "@/shell/stored";
import { IconButton } from "@/ui/Button";
import { Input, Select } from "@/ui/Field";

interface SavedViewsProps {
  /** Each page has views of its own. */
  page: string;
  /** The tab, filters and order of now. */
  search: object;
}

type Kept = Record<string, Record<string, unknown>>;

/** Filters under a name, kept by this browser: choose one, save what is set now, delete one. */
export function SavedViews(props: SavedViewsProps) {
  const { data: me } = useQuery(session);
  // Of a tenant, for names of people and projects are in them.
  return me?.tenant && <Views key={me.tenant} tenant={me.tenant} {...props} />;
}

function Views({ tenant, page, search }: SavedViewsProps & { tenant: string }) {
  const [stored, keep, latest] = useStored(`views-${tenant}-${page}`, localStorage);
  const [naming, setNaming] = useState(false);
  const navigate = useNavigate();
  const views = read(stored);
  const names = Object.keys(views).sort();
  const now = written(search);
  const shown = names.find((name) => written(views[name]!) === now);
  const change = (views: Kept) => keep(JSON.stringify(views));
  const show = (name: string | undefined) =>
    void navigate({
      to: ".",
      search: (before) => ({ ...keptPast(before), ...(name && views[name]) }),
      resetScroll: false,
    });
  /** Whether the name was free: a view is not replaced unseen. */
  const save = (name: string) => {
    const kept = read(latest());
    if (Object.hasOwn(kept, name)) return false;
    if (name) change({ ...kept, [name]: JSON.parse(now) as Kept[string] });
    setNaming(false);
    return true;
  };
  const remove = (name: string) => {
    const { [name]: _, ...others } = read(latest());
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
  /** Whether the name could be taken. */
  onName: (name: string) => boolean;
  onCancel: () => void;
}

function NameBox({ onName, onCancel }: NameBoxProps) {
  const [isTaken, setIsTaken] = useState(false);
  return (
    <span className="flex items-center gap-2">
      <span role="alert" className="text-sm text-bad-ink">
        {isTaken && "There is a view of this name."}
      </span>
      <Input
        aria-label="Name of this view"
        aria-invalid={isTaken}
        placeholder="Name, then Enter"
        maxLength={40}
        autoFocus
        onBlur={onCancel}
        onChange={() => setIsTaken(false)}
        onKeyDown={(event) => {
          if (event.key === "Enter") setIsTaken(!onName(event.currentTarget.value.trim()));
          if (event.key === "Escape") onCancel();
        }}
      />
    </span>
  );
}

/** In one order, so that equal views are equal texts. */
function written(search: object): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined);
  return JSON.stringify(Object.fromEntries(set.sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** What the browser kept; nothing where that cannot be read. */
function read(stored: string | null): Kept {
  try {
    const views: unknown = JSON.parse(stored ?? "{}");
    return typeof views === "object" && views !== null && !Array.isArray(views)
      ? (views as Kept)
      : {};
  } catch {
    return {};
  }
}
