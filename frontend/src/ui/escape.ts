import type { KeyboardEvent as ReactKeyboardEvent } from "react";

// Radix gives Esc to what was opened last: to a toast, before the drawer whose change it reports.
const left = new WeakSet<Event>();

/** For a toast: leaves Esc to the dialog that it is pressed in. */
export function leaveEscape(event: KeyboardEvent): void {
  if (!(event.target instanceof Element && event.target.closest("[role=dialog]"))) return;
  event.preventDefault();
  left.add(event);
}

/** For a dialog, as `onKeyDown`: is closed by an Esc that a toast left to it. */
export function onEscapeLeft(close: () => void): (event: ReactKeyboardEvent) => void {
  // Deleted, so that of a dialog over a drawer only the dialog is closed.
  return (event) => left.delete(event.nativeEvent) && close();
}
