import { useCallback, useState } from "react";

/** What is chosen in a list, to do one thing with all of it. */
export interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  /** Chooses exactly these. */
  choose: (ids: readonly string[]) => void;
  /** What was done with these is done; the others stay chosen. */
  drop: (ids: readonly string[]) => void;
  clear: () => void;
}

/** `view`: what the list shows. With another view nothing is chosen: one acts on what one sees. */
export function useSelection(view: string): Selection {
  const [chosen, setChosen] = useState<{ view: string; ids: ReadonlySet<string> }>(() =>
    nothing(view),
  );
  const toggle = useCallback(
    (id: string) =>
      setChosen((now) => {
        const ids = new Set(now.view === view ? now.ids : []);
        if (!ids.delete(id)) ids.add(id);
        return { view, ids };
      }),
    [view],
  );
  const choose = useCallback(
    (ids: readonly string[]) => setChosen({ view, ids: new Set(ids) }),
    [view],
  );
  const drop = useCallback(
    (ids: readonly string[]) =>
      setChosen((now) =>
        now.view === view
          ? { view, ids: new Set([...now.ids].filter((id) => !ids.includes(id))) }
          : now,
      ),
    [view],
  );
  const clear = useCallback(() => setChosen(nothing(view)), [view]);
  return { ids: (chosen.view === view ? chosen : nothing(view)).ids, toggle, choose, drop, clear };
}

function nothing(view: string) {
  return { view, ids: new Set<string>() };
}
