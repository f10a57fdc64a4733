import { answer, api } from "@/api/client";
import type { Change } from "@/shell/change";
import { plural } from "@/ui/format";

/** Drops an item of working memory; the log keeps what was said. */
export function forgetItem(companion: string, id: number): Change {
  return async () => {
    await answer(
      api.POST("/api/journal/{companion}/mind/forget", {
        params: { path: { companion } },
        body: { item_id: id },
      }),
    );
    return { said: "Dropped from its mind.", undo: undoItem(companion, id) };
  };
}

/** What was masked in a message, without what a program would do about it: a page has a button. */
export function maskedOf(secrets: string): string {
  return secrets.replace(/ If the user wants .*$/, "");
}

/** Puts another text in the place of an item's. */
export function editItem(
  companion: string,
  id: number,
  content: string,
  allow_secrets = false,
): Change {
  return async () => {
    const { changed, secrets } = await answer(
      api.POST("/api/journal/{companion}/mind/edit", {
        params: { path: { companion } },
        body: { item_id: id, content, allow_secrets },
      }),
    );
    const now = changed.at(-1)?.id ?? id;
    return {
      said: `Changed on its mind.${secrets ? ` ${maskedOf(secrets)}` : ""}`,
      undo: undoItem(companion, now),
      ...(secrets && { keep: editItem(companion, now, content, true) }),
    };
  };
}

/** Takes the latest change back, if it is one of this item. */
export function undoItem(companion: string, id: number): Change {
  return async () => {
    const { noted } = await answer(
      api.POST("/api/journal/{companion}/mind/undo", {
        params: { path: { companion } },
        body: { item_id: id },
      }),
    );
    return { said: noted.length ? `Taken back: ${noted.join("; ")}` : "Nothing to take back." };
  };
}

/** Keeps a text on its mind as it is; nobody is asked for an answer. */
export function keepItem(companion: string, type: "pin" | "plan", text: string): Change {
  return async () => {
    const { changed, noted, secrets } = await answer(
      api.POST("/api/journal/{companion}/mind", {
        params: { path: { companion } },
        body: { type, content: text, allow_secrets: false },
      }),
    );
    const id = changed.at(-1)?.id;
    return {
      said: [...noted, ...(secrets ? [maskedOf(secrets)] : [])].join("; "),
      ...(id !== undefined && { undo: undoItem(companion, id) }),
      // In the place of what it keeps now.
      ...(id !== undefined && secrets && { keep: editItem(companion, id, text, true) }),
    };
  };
}

/** Notes that what a run changed is right. */
export function keepLearned(companion: string, run: number, keys: string[], kept = true): Change {
  return async () => {
    await answer(
      api.POST("/api/journal/{companion}/runs/{run_id}/keep", {
        params: { path: { companion, run_id: run } },
        body: { keys, kept },
      }),
    );
    return {
      said: kept ? "Approved." : "Open again.",
      undo: keepLearned(companion, run, keys, !kept),
    };
  };
}

/** Takes back what a run changed, or some fragments of it. */
export function takeBack(companion: string, run: number, keys?: string[]): Change {
  return async () => {
    const { run_id: again, changes } = await answer(
      api.POST("/api/journal/{companion}/runs/{run_id}/undo", {
        params: { path: { companion, run_id: run } },
        body: { keys: keys ?? null },
      }),
    );
    return {
      said: `Took back ${plural(changes.length, "change")}.`,
      undo: takeBack(companion, again),
    };
  };
}

/** Who is there: the answers of the first conversation. */
export interface Introduction {
  user?: string;
  name?: string;
  time_zone?: string;
  manner?: string;
}

/** Keeps who is there; what is left out stays as it was. */
export function introduce(companion: string, said: Introduction): Change {
  const given = Object.fromEntries(
    Object.entries(said).flatMap(([key, text]) => (text.trim() ? [[key, text.trim()]] : [])),
  ) as Introduction;
  return async () => {
    const { name, user } = await answer(
      api.POST("/api/journal/{companion}/introduction", {
        params: { path: { companion } },
        body: given,
      }),
    );
    return { said: user ? `${name || "The companion"} knows that you are ${user}.` : "Kept." };
  };
}
