import { useState } from "react";

/**
 * A text that a browser keeps under a name: for this window with `sessionStorage`, for good with
 * `localStorage`. Where it keeps nothing, the text lasts until the page is closed. `latest` is what
 * another window may have kept meanwhile.
 */
export function useStored(
  name: string,
  storage: Storage,
): [text: string | null, keep: (text: string) => void, latest: () => string | null] {
  const [text, setText] = useState(() => {
    try {
      return storage.getItem(name);
    } catch {
      return null;
    }
  });
  const latest = () => {
    try {
      return storage.getItem(name) ?? text;
    } catch {
      return text;
    }
  };
  const keep = (text: string) => {
    setText(text);
    try {
      storage.setItem(name, text);
    } catch {
      // It lasts until the page is closed.
    }
  };
  return [text, keep, latest];
}
