import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Correct } from "@/pages/journal/Correct";
import { mind, type WorkingItem } from "@/pages/journal/queries";
import { Badge } from "@/ui/Badge";
import { TimeAgo } from "@/ui/TimeAgo";

/** Past its time. */
function isLate(one: WorkingItem) {
  return one.phase === "grace" || one.phase === "overdue";
}

/** What is on the companion's mind, what is overdue first, each to be changed or dropped; folded on a phone. */
export function OnItsMind({ companion }: { companion: string }) {
  const { data } = useQuery(mind(companion));
  const items = data?.items.toSorted((one, other) => Number(isLate(other)) - Number(isLate(one)));
  const [open, setOpen] = useState(() => window.matchMedia("(width >= 64rem)").matches);
  return (
    <aside aria-label="On its mind" className="order-first min-w-0 lg:sticky lg:top-6">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="text-sm font-semibold">
          On its mind{data && ` (${data.items.length})`}
        </summary>
        <ul className="mt-2 space-y-2">
          {items?.map((one) => (
            <li key={one.id} className="rounded-lg border bg-surface px-3 py-2 shadow-card">
              <p className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
                <Badge>{one.type === "desc" ? "description" : one.type}</Badge>
                {isLate(one) && <Badge tone="warn">overdue</Badge>}
                {one.due && (
                  <span>
                    due <TimeAgo at={one.due} />
                    {one.often && `, ${one.often}`}
                  </span>
                )}
              </p>
              <Correct companion={companion} item={one} />
            </li>
          ))}
        </ul>
        {data?.items.length === 0 && (
          <p className="mt-2 text-sm text-ink-2">Nothing. What it pins or plans appears here.</p>
        )}
      </details>
    </aside>
  );
}
