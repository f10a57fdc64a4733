import { useState } from "react";

/**
 * A text that a browser keeps under a name: for this window with `sessionStorage`, for good with
 * `localStorage`. Where it keeps nothing, the text lasts until the page is closed.
 */
export function useStored(
  name: string,
  storage: Storage,
): [text: string | null, keep: (text: string) => void] {
  const [text, setText] = useState(() => {
    try {
      return storage.getItem(name);
    } catch {
      return null;
    }
  });
  const keep = (text: string) => {
    setText(text);
    try {
      storage.setItem(name, text);
    } catch {
      // It lasts until the page is closed.
    }
  };
  return [text, keep];
}
