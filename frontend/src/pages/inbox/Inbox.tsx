import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Inbox as Tray } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { decisionsOf } from "@/pages/inbox/decisions";
import { Waiting } from "@/pages/inbox/Waiting";
import {
  idsOf,
  inbox,
  keyOf,
  MOST,
  SHOWN,
  type Inbox as Listed,
  type Item,
  type Kind,
} from "@/pages/inbox/queries";
import { KINDS } from "@/pages/inbox/route";
import { useDeciding } from "@/pages/inbox/useDeciding";
import { isTyping } from "@/shell/useShortcuts";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Select } from "@/ui/Field";
import { plural } from "@/ui/format";
import { Key } from "@/ui/Key";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

const route = getRouteApi("/memory/inbox");

/** What waits for a decision: one at a time, by one key each. */
export default function Inbox() {
  const { kind } = route.useSearch();
  const [limit, setLimit] = useState(SHOWN);
  const { data, isPlaceholderData } = useQuery(inbox(kind, limit));
  const isMore = data && !isPlaceholderData && data.items.length < leftOf(data.waiting, kind).left;
  const more = () => setLimit((now) => Math.min(now + SHOWN, MOST));
  return (
    <Page title="Inbox" lead="Everything that waits for your decision, the most useful one first.">
      {data ? (
        <Decide listed={data} kind={kind} more={isMore ? more : undefined} />
      ) : (
        <SkeletonRows rows={4} className="h-32" />
      )}
    </Page>
  );
}

interface DecideProps {
  listed: Listed;
  kind: Kind | undefined;
  /** Asks for more; undefined where these are all. */
  more: (() => void) | undefined;
}

function Decide({ listed, kind, more }: DecideProps) {
  const navigate = route.useNavigate();
  const [chosen, setChosen] = useState<string>();
  const { waiting, skipped, decide, skip, showSkipped, undo } = useDeciding(
    listed.items,
    setChosen,
  );
  const isPassed = waiting.length === 0 && skipped > 0;
  useEffect(() => {
    if (isPassed) more?.();
  }, [isPassed, more]);
  const found = waiting.findIndex((one) => keyOf(one) === chosen);
  const place = Math.max(found, 0);
  const current = waiting[place];
  const step = (by: number) => {
    const next = waiting[place + by];
    if (next) setChosen(keyOf(next));
  };
  // What follows takes its place: one goes on downwards.
  const goOn = (loses?: string) => {
    const stays = (one: Item) => !loses || !idsOf(one).includes(loses);
    const next = waiting.slice(place + 1).find(stays) ?? waiting.slice(0, place).findLast(stays);
    setChosen(next && keyOf(next));
  };
  const act = (item: Item, key: string): boolean => {
    const decision = decisionsOf(item).find((one) => one.key === key);
    if (!decision && key !== "s") return false;
    if (current && keyOf(item) === keyOf(current)) goOn(decision?.loses);
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
        <Select
          label="Kind"
          any="Every kind"
          value={kind}
          options={KINDS.map((value) => ({ value, label: NAMES[value][1] }))}
          onChange={(kind) => void navigate({ search: (now) => ({ ...now, kind }), replace: true })}
        />
        <p className="flex items-center gap-1.5 max-md:hidden">
          <Key>↑</Key> <Key>↓</Key> choose, <Key>s</Key> skip, <Key>u</Key> undo
        </p>
      </div>
      {waiting.length === 0 ? (
        <EmptyState
          icon={Tray}
          title={
            more
              ? "All that is listed was skipped"
              : skipped > 0
                ? "Nothing else to decide"
                : "Nothing to decide"
          }
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

/** How many wait, of one kind or of all, and whether these are only the most that is counted. */
function leftOf(waiting: Listed["waiting"], kind?: Kind): { left: number; isMore: boolean } {
  const numbers = KINDS.filter((one) => !kind || one === kind).map((one) => waiting[one] ?? 0);
  return { left: numbers.reduce((sum, one) => sum + one, 0), isMore: numbers.includes(MOST) };
}

function toldOf(waiting: Listed["waiting"]): string {
  const found = KINDS.filter((kind) => waiting[kind]);
  const kinds = found.map((kind) => told(waiting[kind]!, waiting[kind] === MOST, ...NAMES[kind]));
  const { left, isMore } = leftOf(waiting);
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
