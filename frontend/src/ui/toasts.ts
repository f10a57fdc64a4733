import { useSyncExternalStore } from "react";

export interface ToastMessage {
  id: number;
  text: string;
  tone: "plain" | "bad";
  /** Takes back what the toast reports. */
  undo?: () => void;
  /** Keeps what was typed, where some of it was masked. */
  keep?: () => void;
}

let messages: readonly ToastMessage[] = [];
let latest = 0;
const listeners = new Set<() => void>();

function publish(next: readonly ToastMessage[]): void {
  messages = next;
  listeners.forEach((one) => one());
}

// Whoever works fast reads the last ones; more would cover the page.
const BESIDE_A_NEW_ONE = 2;

function newest(): readonly ToastMessage[] {
  return messages.slice(-BESIDE_A_NEW_ONE);
}

/** Say that something was done; with `undo` wherever it can be taken back. */
export function toast(text: string, undo?: () => void, keep?: () => void): void {
  const actions = { ...(undo && { undo }), ...(keep && { keep }) };
  publish([...newest(), { id: ++latest, text, tone: "plain", ...actions }]);
}

/** Say that something could not be done, in the server's words where it has some. */
export function toastError(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  publish([...newest(), { id: ++latest, text, tone: "bad" }]);
}

export function dismiss(id: number): void {
  publish(messages.filter((one) => one.id !== id));
}

export function useToasts(): readonly ToastMessage[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
}
