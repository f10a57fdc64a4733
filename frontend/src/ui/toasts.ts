import { useSyncExternalStore } from "react";

export interface ToastMessage {
  id: number;
  text: string;
  tone: "plain" | "bad";
  /** Its buttons. */
  acts: readonly Act[];
}

interface Act {
  name: string;
  act: () => void;
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

/** Say that something was done; what `dismiss` takes. With `undo` wherever it can be taken back, with `keep` where something was masked. */
export function toast(text: string, undo?: () => void, keep?: () => void): number {
  return say(text, "plain", named("Keep it as typed", keep), named("Undo", undo));
}

/** Say that something could not be done, in the server's words where it has some. */
export function toastError(error: unknown, again?: () => void): void {
  const text = error instanceof Error ? error.message : String(error);
  say(text, "bad", named("Try again", again));
}

function say(text: string, tone: ToastMessage["tone"], ...acts: Act[][]): number {
  publish([...newest(), { id: ++latest, text, tone, acts: acts.flat() }]);
  return latest;
}

function named(name: string, act: (() => void) | undefined): Act[] {
  return act ? [{ name, act }] : [];
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
