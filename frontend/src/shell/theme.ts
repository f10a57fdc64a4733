import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

// public/theme.js reads it before the first paint, so that a chosen theme does not flash. Without a
// choice, or without storage in this browser, the system's theme applies.
const KEY = "theme";
const listeners = new Set<() => void>();

function read(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // No storage in this browser: the choice lasts until the page is closed.
  }
  listeners.forEach((one) => one());
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, read);
}
