/** Told to the window to open the command palette, from wherever. */
export const OPEN_PALETTE = "open-palette";

export function openPalette(): void {
  window.dispatchEvent(new Event(OPEN_PALETTE));
}
