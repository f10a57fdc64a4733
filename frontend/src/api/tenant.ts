/**
 * Whose memory this page shows. The cookie is the browser's: in another tab somebody may sign in to another
 * tenant. So every request says whose memory it means, and the server refuses it where the cookie is another's.
 */
let shown: string | undefined;

/** Told once, by the first answer of who is signed in. */
export function show(tenant: string | null): void {
  shown ??= tenant ?? undefined;
}

export function isShown(tenant: string | null): boolean {
  return shown === undefined || shown === tenant;
}

/** The headers of a request that say so. */
export function asShown(): Record<string, string> {
  return shown === undefined ? {} : { "memory-butler-tenant": shown };
}

/** The address of a picture or a stream, which the browser asks for without these headers, that says so. */
export function addressOf(path: string): string {
  return `${path}?${new URLSearchParams(asShown())}`;
}

const tabs = new BroadcastChannel("session");

/** One has signed in or out: what the other tabs show may not be for whoever sits here now. */
export function tellOtherTabs(): void {
  tabs.postMessage(null);
}

/** Called each time that another tab tells so. */
export function onOtherTab(callback: () => void): () => void {
  tabs.addEventListener("message", callback);
  return () => tabs.removeEventListener("message", callback);
}
