import clsx from "clsx";
import { useEffect, useRef } from "react";
import { decisionsOf } from "@/pages/inbox/decisions";
import type { Conflict, Item, Kind } from "@/pages/inbox/queries";
import type { Schemas } from "@/api/client";
import { TrustBadge } from "@/memory/TrustBadge";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge, type Tone } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { Button } from "@/ui/Button";
import { words } from "@/ui/format";
import { Key } from "@/ui/Key";
import { TimeAgo } from "@/ui/TimeAgo";

const KINDS: Record<Kind, { title: string; tone: Tone }> = {
  contradiction: { title: "contradiction", tone: "bad" },
  waiting: { title: "in doubt", tone: "accent" },
  duplicate: { title: "says the same", tone: "warn" },
  fading: { title: "fading", tone: "warn" },
  dead_letter: { title: "dead letter", tone: "bad" },
};

interface WaitingProps {
  item: Item;
  current: boolean;
  onChoose: () => void;
  onDecide: (key: string) => void;
}

/** One decision: what it is about, and a button with its key for each choice. */
export function Waiting({ item, current, onChoose, onDecide }: WaitingProps) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (current) card.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const { title, tone } = KINDS[item.kind];
  return (
    <article
      ref={card}
      aria-current={current || undefined}
      onPointerDown={onChoose}
      className={clsx(
        "scroll-my-4 rounded-xl border bg-surface p-5 shadow-card",
        current && "border-accent",
      )}
    >
      <Badge tone={tone}>{title}</Badge>
      {item.conflict && <Pair conflict={item.conflict} />}
      {item.fact && <Single fact={item.fact} />}
      {item.episode && <Dead episode={item.episode} />}
      <div className="mt-4 flex flex-wrap gap-2">
        {[...decisionsOf(item), { key: "s", title: "Skip" }].map((one) => (
          <Button
            key={one.key}
            small
            busy={false}
            kind={one.key === "s" ? "quiet" : "secondary"}
            onClick={() => onDecide(one.key)}
          >
            {/* Always there: a button must not move under the pointer that presses it. */}
            {one.title}{" "}
            <span
              aria-hidden={!current}
              className={clsx("pointer-coarse:hidden", !current && "opacity-40")}
            >
              <Key>{one.key}</Key>
            </span>
          </Button>
        ))}
      </div>
    </article>
  );
}

function Pair({ conflict }: { conflict: Conflict }) {
  return (
    <div className="mt-3 grid gap-4 sm:grid-cols-2">
      <Side title="Earlier" fact={conflict.earlier} source={conflict.earlier_source} />
      <Side title="Later" fact={conflict.later} source={conflict.later_source} />
    </div>
  );
}

interface SideProps {
  title: string;
  fact: Conflict["earlier"];
  source: string | null;
}

function Side({ title, fact, source }: SideProps) {
  return (
    <section aria-label={title} className="min-w-0">
      <p className="flex flex-wrap gap-x-2 text-xs text-ink-3">
        <span>{title}</span>
        <TimeAgo at={fact.created_at} />
        <span className="memory-text">
          {fact.subject} · {words(fact.predicate)}
        </span>
      </p>
      <p className="memory-text mt-1 line-clamp-6">
        <MemoryLink kind="fact" id={fact.id}>
          {fact.content}
        </MemoryLink>
      </p>
      {source !== null && (
        <blockquote className="memory-text mt-2 line-clamp-4 border-l-2 pl-3 text-sm text-ink-2">
          {source}
        </blockquote>
      )}
    </section>
  );
}

function Single({ fact }: { fact: Schemas["ListedFact"] }) {
  return (
    <div className="mt-3">
      <p className="memory-text line-clamp-6">
        <MemoryLink kind="fact" id={fact.id}>
          {fact.content}
        </MemoryLink>
      </p>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
        <span className="memory-text">
          {fact.subject} · {words(fact.predicate)}
        </span>
        <TrustBadge trust={fact.trust} />
        <ConfidenceBar effective={fact.effective_confidence} base={fact.confidence} />
        <span>
          last confirmed <TimeAgo at={fact.last_confirmed_at} />
        </span>
      </div>
    </div>
  );
}

function Dead({ episode }: { episode: NonNullable<Item["episode"]> }) {
  return (
    <div className="mt-3">
      <p className="memory-text line-clamp-4">
        <MemoryLink kind="episode" id={episode.id}>
          {episode.content}
        </MemoryLink>
      </p>
      {episode.last_consolidation_error && (
        <p className="memory-text mt-1.5 text-sm text-bad-ink">
          {episode.last_consolidation_error}
        </p>
      )}
      <p className="mt-1 text-xs text-ink-3">
        {episode.butler} · <TimeAgo at={episode.created_at} />
      </p>
    </div>
  );
}
