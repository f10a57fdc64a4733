import { useSyncExternalStore } from "react";
import { isShown } from "@/api/tenant";

/**
 * Who is away: nobody, the database behind the server, the server itself; or, for whom this page is: one
 * is signed out, or signed in to another tenant, in another tab.
 */
export type Away = "nobody" | "database" | "server" | "session" | "tenant";

// Often enough to feel immediate, seldom enough to cost nothing.
const ASK_AGAIN_MILLISECONDS = 2_000;

let away: Away = "nobody";
let asking: number | undefined;
const listeners = new Set<() => void>();
const recoveries = new Set<() => void>();

function set(next: Away): void {
  if (away === next) return;
  const recovered = next === "nobody";
  away = next;
  listeners.forEach((one) => one());
  if (recovered) {
    window.clearInterval(asking);
    asking = undefined;
    recoveries.forEach((one) => one());
  } else {
    asking ??= window.setInterval(ask, ASK_AGAIN_MILLISECONDS);
  }
}

async function ask(): Promise<void> {
  try {
    const ready = await fetch("/readyz", { cache: "no-store" });
    set(
      !ready.ok ? "database" : away === "session" || away === "tenant" ? await whoIs() : "nobody",
    );
  } catch {
    set("server");
  }
}

async function whoIs(): Promise<Away> {
  const answer = await fetch("/api/session", { cache: "no-store" });
  const { tenant } = (await answer.json()) as { tenant: string | null };
  if (tenant === null) return "session";
  return isShown(tenant) ? "nobody" : "tenant";
}

/** Something broke off, maybe for no reason: look whether somebody is away. */
export function lookWhoIsAway(): void {
  void ask();
}

/** A request failed in a way that a later one may not: look until all is well again. */
export function reportAway(who: Exclude<Away, "nobody">): void {
  set(who);
}

/** Called each time that everything answers again. */
export function onRecovery(callback: () => void): () => void {
  recoveries.add(callback);
  return () => recoveries.delete(callback);
}

/** Resolves when everything answers again. */
export function nextRecovery(): Promise<void> {
  return new Promise((resolve) => {
    const stop = onRecovery(() => {
      stop();
      resolve();
    });
  });
}

export function useAway(): Away {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => away,
  );
}
