import { useState } from "react";

/**
 * For what takes the focus while it is open: gives it back, when closed, to what had it before. To be
 * called where that is opened, as `onCloseAutoFocus`; Radix knows but the button that opens a dialog,
 * and ours open by keys, rows and addresses too.
 */
export function useFocusReturn(): (event: Event) => void {
  const [before] = useState(() => document.activeElement);
  return (event) => {
    event.preventDefault();
    // Another drawer may have taken its place, or somebody have clicked elsewhere.
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (!isLost) return;
    const there = before instanceof HTMLElement && before.isConnected && before !== document.body;
    (there ? before : document.getElementById("main"))?.focus({ preventScroll: true });
  };
}
