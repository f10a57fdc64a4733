import { useState } from "react";

// What had it before the dialog that was opened last, and before those that this lay upon.
let focused: readonly Element[] = [];

/**
 * For what takes the focus while it is open: gives it back, when closed, to what had it before. To be
 * called where that is opened, as `onCloseAutoFocus`; Radix knows but the button that opens a dialog,
 * and ours open by keys, rows and addresses too.
 */
export function useFocusReturn(): (event: Event) => void {
  const [before] = useState(() => {
    const now = document.activeElement;
    // A dialog may take the place of another, whose button goes with it.
    focused = now?.closest("[role=dialog]") ? [now, ...focused] : now ? [now] : [];
    return focused;
  });
  return (event) => {
    event.preventDefault();
    // Another drawer may have taken its place, or somebody have clicked elsewhere.
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (!isLost) return;
    const there = before.find((one) => one.isConnected && one !== document.body);
    const taker = there instanceof HTMLElement ? there : document.getElementById("main");
    taker?.focus({ preventScroll: true });
  };
}

/** For what lies over everything and is left: the focus goes to the dialog or the page behind it. */
export function focusBehind(): void {
  const dialogs = document.querySelectorAll<HTMLElement>("[role=dialog]");
  (dialogs.item(dialogs.length - 1) ?? document.getElementById("main"))?.focus({
    preventScroll: true,
  });
}

/**
 * For what stays usable with the page beside it, as its `ref`: takes the focus where what had it within is gone,
 * as a button is that was pressed and has become another.
 */
export function keepFocus(node: HTMLElement | null): (() => void) | undefined {
  if (!node) return undefined;
  let isWithin = false;
  const note = ({ target }: Event) => {
    isWithin = target instanceof Node && node.contains(target);
  };
  const observer = new MutationObserver(() => {
    if (isWithin && document.activeElement === document.body) node.focus({ preventScroll: true });
  });
  observer.observe(node, { childList: true, subtree: true });
  document.addEventListener("focusin", note);
  document.addEventListener("pointerdown", note);
  return () => {
    observer.disconnect();
    document.removeEventListener("focusin", note);
    document.removeEventListener("pointerdown", note);
  };
}
