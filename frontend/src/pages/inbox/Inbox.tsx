import { useQuery } from "@tanstack/react-query";
import { Inbox as Tray } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { decisionsOf } from "@/pages/inbox/decisions";
import { Waiting } from "@/pages/inbox/Waiting";
import { inbox, keyOf, type Inbox as Listed, type Item, type Kind } from "@/pages/inbox/queries";
import { useDeciding } from "@/pages/inbox/useDeciding";
import { isTyping } from "@/shell/useShortcuts";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { Key } from "@/ui/Key";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

/** What waits for a decision: one at a time, by one key each. */
export default function Inbox() {
  const { data } = useQuery(inbox);
  return (
    <Page title="Inbox" lead="Everything that waits for your decision, the most useful one first.">
      {data ? <Decide listed={data} /> : <SkeletonRows rows={4} className="h-32" />}
    </Page>
  );
}

function Decide({ listed }: { listed: Listed }) {
  const [chosen, setChosen] = useState<string>();
  const { waiting, skipped, decide, skip, showSkipped, undo } = useDeciding(
    listed.items,
    setChosen,
  );
  const found = waiting.findIndex((one) => keyOf(one) === chosen);
  const place = Math.max(found, 0);
  const current = waiting[place];
  const step = (by: number) => {
    const next = waiting[place + by];
    if (next) setChosen(keyOf(next));
  };
  // What follows takes its place: one goes on downwards.
  const goOn = () => {
    const next = waiting[place + 1] ?? waiting[place - 1];
    setChosen(next && keyOf(next));
  };
  const act = (item: Item, key: string): boolean => {
    const decision = decisionsOf(item).find((one) => one.key === key);
    if (!decision && key !== "s") return false;
    if (current && keyOf(item) === keyOf(current)) goOn();
    if (decision) decide(item, decision);
    else skip(item);
    return true;
  };
  useKeys((key) => {
    if (key === "u") undo();
    else if (key === "ArrowDown" || key === "j") step(1);
    else if (key === "ArrowUp") step(-1);
    else return current !== undefined && act(current, key);
    return true;
  });
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2 text-sm text-ink-3">
        <p role="status">{toldOf(listed.waiting)}</p>
        <p className="flex items-center gap-1.5 max-md:hidden">
          <Key>↑</Key> <Key>↓</Key> choose, <Key>s</Key> skip, <Key>u</Key> undo
        </p>
      </div>
      {waiting.length === 0 ? (
        <EmptyState
          icon={Tray}
          title={skipped > 0 ? "Nothing else to decide" : "Nothing to decide"}
          action={skipped > 0 && <Button onClick={showSkipped}>Show what was skipped</Button>}
        >
          Facts that fade, possible duplicates and contradictions, statements in doubt, and episodes
          that consolidation gave up on appear here.
        </EmptyState>
      ) : (
        <ul className="space-y-3" aria-label="Decisions">
          {waiting.map((one) => (
            <li key={keyOf(one)}>
              <Waiting
                item={one}
                current={one === current}
                onChoose={() => setChosen(keyOf(one))}
                onDecide={(key) => void act(one, key)}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const NAMES: Record<Kind, readonly [one: string, many: string]> = {
  contradiction: ["contradiction", "contradictions"],
  waiting: ["waiting statement", "waiting statements"],
  duplicate: ["possible duplicate", "possible duplicates"],
  fading: ["fading fact", "fading facts"],
  dead_letter: ["dead letter", "dead letters"],
};

// The server counts no further.
const MOST = 200;

function toldOf(waiting: Listed["waiting"]): string {
  const found = (Object.keys(NAMES) as Kind[]).filter((kind) => waiting[kind]);
  const kinds = found.map((kind) => told(waiting[kind]!, waiting[kind] === MOST, ...NAMES[kind]));
  const left = found.reduce((sum, kind) => sum + waiting[kind]!, 0);
  const isMore = found.some((kind) => waiting[kind] === MOST);
  return [told(left, isMore, "decision", "decisions"), ...kinds].join(" · ");
}

function told(number: number, isMore: boolean, one: string, many: string): string {
  return isMore ? `${number} or more ${many}` : plural(number, one, many);
}

/** The keys of this page; not while one types, and not with a drawer open. */
function useKeys(press: (key: string) => boolean): void {
  const latest = useRef(press);
  useEffect(() => {
    latest.current = press;
  });
  useEffect(() => {
    // The key after "g" leads to another page.
    let before = "";
    function onKey(event: KeyboardEvent): void {
      const isChord = before === "g";
      before = event.key;
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isChord || event.repeat || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"]')) return;
      if (latest.current(event.key)) event.preventDefault();
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
