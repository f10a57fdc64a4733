import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { ENTRIES } from "@/shell/navigation";

// How long "g" waits for its second key.
const CHORD_MILLISECONDS = 1_200;

interface Actions {
  palette: () => void;
  help: () => void;
}

/** The keys that work on every page; while one types, only those with Ctrl or ⌘. */
export function useShortcuts({ palette, help }: Actions): void {
  const navigate = useNavigate();
  useEffect(() => {
    let chordUntil = 0;
    function onKey(event: KeyboardEvent): void {
      if (event.defaultPrevented) return;
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        palette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (Date.now() < chordUntil) {
        chordUntil = 0;
        const entry = ENTRIES.find((one) => one.key === event.key);
        if (entry) {
          event.preventDefault();
          void navigate({ to: entry.to });
        }
      } else if (event.key === "g") {
        chordUntil = Date.now() + CHORD_MILLISECONDS;
      } else if (event.key === "?") {
        event.preventDefault();
        help();
      } else if (event.key === "/") {
        const box = document.querySelector<HTMLElement>("[data-slash]");
        if (!box) return;
        event.preventDefault();
        box.focus();
      }
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, palette, help]);
}

/** Whether a key is meant for a control that one types in. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}
