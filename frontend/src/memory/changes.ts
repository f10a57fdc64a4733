import { answer, api } from "@/api/client";
import { undoing } from "@/memory/undo";
import { maskedPart } from "@/memory/unmask";
import type { Change } from "@/shell/change";
import type { MemoryType, Permanence } from "@/shell/vocabulary";
import { plural } from "@/ui/format";

const path = (id: string) => ({ params: { path: { memory_id: id } } });

const FORGET = {
  fact: (id: string) => api.DELETE("/api/memory/facts/{memory_id}", path(id)),
  rule: (id: string) => api.DELETE("/api/memory/rules/{memory_id}", path(id)),
  episode: (id: string) => api.DELETE("/api/memory/episodes/{memory_id}", path(id)),
};
const RESTORE = {
  fact: (id: string) => api.POST("/api/memory/facts/{memory_id}/restore", path(id)),
  rule: (id: string) => api.POST("/api/memory/rules/{memory_id}/restore", path(id)),
  episode: (id: string) => api.POST("/api/memory/episodes/{memory_id}/restore", path(id)),
};
const CONFIRM = {
  fact: (id: string) => api.POST("/api/memory/facts/{memory_id}/confirm", path(id)),
  rule: (id: string) => api.POST("/api/memory/rules/{memory_id}/confirm", path(id)),
};

/** Out of retrieval, into the archive. */
export function forget(kind: MemoryType, id: string): Change {
  return async () => {
    await answer<unknown>(FORGET[kind](id));
    return { said: `The ${kind} is forgotten.`, undo: restore(kind, id) };
  };
}

/** The inverse of `forget`. */
export function restore(kind: MemoryType, id: string): Change {
  return async () => {
    await answer<unknown>(RESTORE[kind](id));
    return { said: `The ${kind} is back.`, undo: forget(kind, id) };
  };
}

const EVENTS = {
  fact: (id: string) => api.GET("/api/memory/facts/{memory_id}/events", path(id)),
  rule: (id: string) => api.GET("/api/memory/rules/{memory_id}/events", path(id)),
};

/** It still holds: its decay starts anew (DASH-14). */
export function confirm(kind: keyof typeof CONFIRM, id: string): Change {
  return async () => {
    await answer<unknown>(CONFIRM[kind](id));
    return {
      said: `Confirmed: the ${kind} is as certain as it ever was.`,
      undo: undoing(async () => {
        const { items } = await answer(EVENTS[kind](id));
        return items.find((one) => one.event_type === "memory_confirmed");
      }, `The ${kind} is as certain as it was before.`),
    };
  };
}

/** A statement in doubt holds: it takes the place of what it contradicts. */
export function accept(id: string): Change {
  return async () => {
    await answer(
      api.POST("/api/memory/facts/{fact_id}/accept", { params: { path: { fact_id: id } } }),
    );
    return {
      said: "Accepted: agents get it from now on.",
      undo: undoing(async () => {
        const { items } = await answer(EVENTS.fact(id));
        return items.find((one) => one.event_type === "fact_accepted");
      }, "It waits again."),
    };
  };
}

/** A fact as a person types it. */
export interface NewFact {
  subject: string;
  predicate: string;
  content: string;
  permanence: Permanence;
}

/** Store what the user says; it supersedes the fact of the same subject and predicate. */
export function addFact(fact: NewFact): Change {
  return async () => {
    const { id, superseded, besides, alike, unmask_key } = await answer(
      api.POST("/api/memory/facts", {
        body: { ...fact, importance: 5, scope: "global", trust: "user_said", allow_secrets: false },
      }),
    );
    const sentences = [
      `Added${unmask_key ? ", and what looks like a secret was masked" : ""}.`,
      superseded && `It supersedes “${superseded}”.`,
      besides,
      alike.length && `${plural(alike.length, "known fact")} may repeat or contradict it.`,
    ];
    return {
      said: sentences.filter(Boolean).join(" "),
      ...maskedPart(unmask_key),
      undo: undoing(async () => {
        const { items } = await answer(EVENTS.fact(id));
        return items.find((one) => one.event_type === "fact_created");
      }, "The fact is gone again."),
    };
  };
}
