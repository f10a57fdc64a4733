import { useEffect, useRef, useState } from "react";
import { idsOf, keyOf, type Item } from "@/pages/inbox/queries";
import type { Decision } from "@/pages/inbox/decisions";
import { useChange, type Change } from "@/shell/change";

/**
 * Decides one item after another without waiting for the server: a decided item leaves at once, and
 * comes back where the decision was refused or undone. `onBack` is told what was undone.
 */
export function useDeciding(items: readonly Item[], onBack: (key: string) => void) {
  const change = useChange();
  // By the keys of the items, the fact that each decision took out.
  const [decided, setDecided] = useState<ReadonlyMap<string, string | undefined>>(new Map());
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  // In the order of the keys: an answer may come later than the next key.
  const undos = useRef<{ key: string; change?: Promise<Change | undefined> }[]>([]);

  const leave = (key: string, loses?: string) => setDecided((now) => new Map(now).set(key, loses));
  const comeBack = (key: string) =>
    setDecided((now) => new Map([...now].filter(([one]) => one !== key)));

  // Whatever the server no longer lists may be listed again by another way.
  useEffect(() => {
    const listed = new Set(items.map(keyOf));
    setDecided((now) => {
      const kept = [...now].filter(([key]) => listed.has(key));
      return kept.length === now.size ? now : new Map(kept);
    });
  }, [items]);

  function returning(key: string, undo: Change): Change {
    return async () => {
      const done = await undo();
      undos.current = undos.current.filter((one) => one.key !== key);
      comeBack(key);
      onBack(key);
      return done;
    };
  }

  function decide(item: Item, { make, loses }: Decision): void {
    const key = keyOf(item);
    leave(key, loses);
    const made = make();
    const undo = made.then(
      (done) => done.undo && returning(key, done.undo),
      () => undefined,
    );
    undos.current.push({ key, change: undo });
    change.mutate(async () => {
      try {
        const back = await undo;
        return { said: (await made).said, ...(back && { undo: back }) };
      } catch (error) {
        comeBack(key);
        throw error;
      }
    });
  }

  function undo(): void {
    const last = undos.current.pop();
    if (!last) return;
    if (!last.change) {
      setSkipped((now) => without(now, last.key));
      onBack(last.key);
      return;
    }
    void last.change.then((back) => change.mutate(back ?? refuse));
  }

  function skip(item: Item): void {
    const key = keyOf(item);
    undos.current.push({ key });
    setSkipped((now) => new Set(now).add(key));
  }

  function showSkipped(): void {
    undos.current = undos.current.filter((one) => one.change);
    setSkipped(new Set());
  }

  const lost = new Set(decided.values());
  return {
    waiting: items.filter(
      (one) =>
        !decided.has(keyOf(one)) &&
        !skipped.has(keyOf(one)) &&
        !idsOf(one).some((id) => id !== undefined && lost.has(id)),
    ),
    skipped: skipped.size,
    decide,
    skip,
    showSkipped,
    undo,
  };
}

function refuse(): never {
  throw new Error("The last decision was not made: nothing to undo.");
}

function without(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const left = new Set(keys);
  left.delete(key);
  return left;
}
