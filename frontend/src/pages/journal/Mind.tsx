import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { Brain } from "lucide-react";
import { Correct } from "@/pages/journal/Correct";
import { mind, type WorkingItem } from "@/pages/journal/queries";
import { usePast } from "@/shell/past";
import { Badge, type Tone } from "@/ui/Badge";
import { Card } from "@/ui/Card";
import { Code, EmptyState } from "@/ui/EmptyState";
import { plural, words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const TYPES: Record<WorkingItem["type"], string> = {
  plan: "Plans",
  pin: "Pins",
  feeling: "Feelings",
  thought: "Thoughts",
  pattern: "Patterns",
  desc: "Descriptions",
  secret: "Secrets",
};

const PHASES: Record<NonNullable<WorkingItem["phase"]>, Tone> = {
  "open-ended": "neutral",
  active: "neutral",
  submerged: "neutral",
  approaching: "accent",
  grace: "warn",
  overdue: "bad",
};

/** Working memory: how present each item is, and how fast it fades. */
export function Mind({ companion }: { companion: string }) {
  const past = usePast();
  const { data } = useQuery(mind(companion, past));
  if (!data) return <SkeletonRows rows={6} className="h-14" />;
  const kinds = Object.entries(TYPES)
    .map(([type, title]) => ({ title, items: data.items.filter((one) => one.type === type) }))
    .filter(({ items }) => items.length > 0);
  if (kinds.length + data.past.length === 0)
    return (
      <EmptyState icon={Brain} title="Nothing is on its mind">
        Tags in its messages put something there: <Code>{'<plan due="friday">…</plan>'}</Code>,{" "}
        <Code>{"<feeling>…</feeling>"}</Code>, <Code>{"<pin>…</pin>"}</Code>
      </EmptyState>
    );
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      {kinds.map(({ title, items }) => (
        <Card key={title} title={title}>
          <ul className="space-y-4">
            {items.map((one) => (
              <li key={one.id}>
                <Present item={one} companion={past ? undefined : companion} />
              </li>
            ))}
          </ul>
        </Card>
      ))}
      {data.past.length > 0 && (
        <Card title="No longer on its mind" note="The latest">
          <ul className="space-y-2">
            {data.past.map((one) => (
              <li key={one.id} className="flex items-baseline gap-2 text-sm">
                <Badge>{one.status === "decayed" ? "faded away" : one.status}</Badge>
                <span className="memory-text min-w-0 flex-1 text-ink-2 line-through">
                  {one.content}
                </span>
                <span className="text-xs text-ink-3">
                  <TimeAgo at={one.resolved_at ?? one.refreshed_at} />
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

interface PresentProps {
  item: WorkingItem;
  /** Whose it is, where it can be changed. */
  companion: string | undefined;
}

function Present({ item, companion }: PresentProps) {
  const score = item.score ?? 0;
  return (
    <>
      {companion === undefined ? (
        <p className={clsx("memory-text", item.hidden && "text-ink-3")}>{item.content}</p>
      ) : (
        <Correct companion={companion} item={item} />
      )}
      <div className="mt-1.5 flex items-center gap-2">
        <div
          role="meter"
          aria-label="How present it is"
          aria-valuemin={0}
          aria-valuemax={1}
          aria-valuenow={Number(score.toFixed(3))}
          className="h-1.5 flex-1 overflow-hidden rounded-full bg-line"
        >
          <div
            className={clsx("h-full rounded-full", item.hidden ? "bg-chart-5" : "bg-accent")}
            style={{ width: `${score * 100}%` }}
          />
        </div>
        <span className="w-10 text-right text-xs text-ink-2">{score.toFixed(2)}</span>
      </div>
      <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
        {item.phase && (
          <Badge
            tone={PHASES[item.phase]}
            title={item.submerged ? "Left out of the prompt until its date is near" : undefined}
          >
            {item.submerged ? "set aside" : words(item.phase)}
          </Badge>
        )}
        {item.hidden && !item.submerged && <Badge title="Left out of the prompt">hidden</Badge>}
        {item.due && (
          <span>
            due <TimeAgo at={item.due} />
            {item.often && `, ${item.often}`}
          </span>
        )}
        <span>{fading(item)}</span>
        <span>
          refreshed <TimeAgo at={item.refreshed_at} />
        </span>
      </p>
    </>
  );
}

function fading({ half_life_hours: hours, half_life_turns: turns }: WorkingItem): string {
  if (hours == null && turns == null) return "does not fade";
  const halves = [];
  if (hours != null)
    halves.push(hours >= 48 ? plural(Math.round(hours / 24), "day") : plural(hours, "hour"));
  if (turns != null) halves.push(plural(turns, "turn"));
  return `halves in ${halves.join(" or ")}`;
}
