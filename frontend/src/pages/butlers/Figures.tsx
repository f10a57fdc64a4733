import type { ReactNode } from "react";
import type { Butler } from "@/pages/butlers/queries";
import { count } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";

/** What a butler told and what it may draw on, in figures. */
export function Figures({ butler }: { butler: Butler }) {
  return (
    <dl className="grid grid-cols-3 gap-x-4 gap-y-3">
      <Figure name="Facts learned">{count(butler.facts_learned)}</Figure>
      <Figure name="Own facts">{count(butler.facts_in_scope)}</Figure>
      <Figure name="Own rules">{count(butler.rules_in_scope)}</Figure>
      <Figure name="Episodes">{count(butler.episodes)}</Figure>
      <Figure name="Waiting">
        {count(butler.pending)}
        {butler.dead_letters > 0 && (
          <span className="ml-1.5 text-sm font-medium text-bad-ink">
            {count(butler.dead_letters)} dead
          </span>
        )}
      </Figure>
      <Figure name="Sessions">{count(butler.sessions)}</Figure>
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-xs text-ink-3">{name}</dt>
      <dd className="mt-0.5 text-lg font-semibold">{children}</dd>
    </div>
  );
}

/** When a butler was last active. */
export function Seen({ butler }: { butler: Butler }) {
  return (
    <span className="text-xs text-ink-3">
      {butler.seen_at ? (
        <>
          Last active <TimeAgo at={butler.seen_at} />
        </>
      ) : (
        "not active yet"
      )}
    </span>
  );
}
