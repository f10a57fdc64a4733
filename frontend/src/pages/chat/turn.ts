/** The reply that is being written, as the server tells it. */
import type { Schemas } from "@/api/client";
import { ApiError, problemOf } from "@/api/problem";
import { asShown } from "@/api/tenant";

export type ShownPiece = Schemas["ShownPiece"];

interface Answered {
  event: Schemas["JournalEvent"];
  cut: boolean;
  /** The error that broke it off. */
  problem: string | null;
  looked_up: string[];
  noted: string[];
  /** The items that `noted` is about, by id. */
  changed: number[];
  unmatched: string[];
}

/** `answers` is the message that is meant, by id; null where none was kept. */
export type TurnEnd = { answers: number | null } & (
  | ({ kind: "answered" } & Answered)
  | { kind: "stopped" }
  | { kind: "failed"; code: string; detail: string }
);

const LONGEST_WAIT = 30_000;

/**
 * Tells what is shown of the current reply until it ends; undefined where there is none. A connection
 * that breaks is made again after 1, 2, 4 … seconds: the reply goes on meanwhile.
 *
 * @throws ApiError for a refusal; the error of `fetch` once `signal` is aborted.
 */
export async function follow(
  companion: string,
  onShown: (pieces: readonly ShownPiece[]) => void,
  signal: AbortSignal,
): Promise<TurnEnd | undefined> {
  let begun = false;
  for (let wait = 1_000; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      return await followOnce(
        companion,
        (pieces) => {
          begun = true;
          wait = 500;
          onShown(pieces);
        },
        signal,
      );
    } catch (error) {
      // Whoever saw nothing of a reply yet is told by the page's own look, a little later.
      if (signal.aborted || !begun || (error instanceof ApiError && !error.isAway)) throw error;
    }
    await new Promise((done) => setTimeout(done, wait));
    signal.throwIfAborted();
  }
}

async function followOnce(
  companion: string,
  onShown: (pieces: readonly ShownPiece[]) => void,
  signal: AbortSignal,
): Promise<TurnEnd | undefined> {
  const response = await fetch(`/api/journal/${encodeURIComponent(companion)}/turns/current`, {
    signal,
    headers: asShown(),
    credentials: "same-origin",
  });
  if (response.status === 204) return undefined;
  if (!response.ok || !response.body) throw await problemOf(response);
  let pieces: ShownPiece[] = [];
  for await (const { event, data } of eventsOf(response.body)) {
    if (event !== "shown") return { kind: event, ...(data as object) } as TurnEnd;
    const { at, pieces: now } = data as { at: number; pieces: ShownPiece[] };
    pieces = [...pieces.slice(0, at), ...now];
    onShown(pieces);
  }
  throw new Error("The connection broke off.");
}

/** The messages of a stream of server-sent events; comments are passed over. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; data: unknown }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const found = /^event: (\w+)\ndata: (.*)$/.exec(block);
        if (found?.[1] && found[2]) yield { event: found[1], data: JSON.parse(found[2]) };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
