import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileDiff } from "lucide-react";
import { diff, SHOWN, type Changed, type Diff } from "@/pages/changes/queries";
import type { ChangesSearch } from "@/pages/changes/route";
import { Superseded } from "@/memory/Superseded";
import { dayOf } from "@/shell/days";
import { by } from "@/shell/events";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge, type Tone } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { EmptyState } from "@/ui/EmptyState";
import { DayBox } from "@/ui/Field";
import { count, plural, words } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const route = getRouteApi("/memory/changes");

const SPANS = [1, 7, 30, 90] as const;
const DAYS_AT_FIRST = 7;

const FATES: readonly { fate: "learned" | "changed" | "forgotten"; title: string; tone: Tone }[] = [
  { fate: "learned", title: "Learned", tone: "good" },
  { fate: "changed", title: "Changed", tone: "accent" },
  { fate: "forgotten", title: "Forgotten", tone: "bad" },
];

/** What memory learned, changed and let go of between two days. */
export default function Changes() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: ChangesSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  const from = search.from ?? daysAgo(DAYS_AT_FIRST);
  const { to } = search;
  const isBackwards = to !== undefined && to < from;
  return (
    <Page
      title="Changes"
      lead="Memory on two dates, side by side: what was learned, changed and forgotten."
    >
      <div className="mb-5 flex flex-wrap items-center gap-3" role="search">
        <DayBox label="From" value={from} onChange={(day) => change({ from: day })} />
        <DayBox label="to" value={to} onChange={(day) => change({ to: day })} />
        <div className="flex gap-1">
          {SPANS.map((days) => (
            <Button
              key={days}
              small
              kind="quiet"
              onClick={() => change({ from: daysAgo(days), to: undefined })}
            >
              {plural(days, "day")}
            </Button>
          ))}
        </div>
      </div>
      {isBackwards ? (
        <EmptyState icon={FileDiff} title="The first day comes after the second">
          Choose two days in their order.
        </EmptyState>
      ) : (
        <Compared from={from} to={to} />
      )}
    </Page>
  );
}

function Compared({ from, to }: { from: string; to: string | undefined }) {
  const { data } = useQuery(diff(from, to));
  if (!data) return <SkeletonRows rows={8} className="h-14" />;
  const total = data.learned_total + data.changed_total + data.forgotten_total;
  return (
    <>
      <p className="mb-3 text-sm text-ink-3" role="status">
        {plural(total, "memory", "memories")} changed
        {data.deleted_episodes > 0 &&
          `; ${plural(data.deleted_episodes, "expired episode was", "expired episodes were")} deleted`}
      </p>
      {total === 0 ? (
        <EmptyState icon={FileDiff} title="Nothing changed">
          Memory was the same on both days. What came and went in between leaves no trace here; the
          timeline shows it.
        </EmptyState>
      ) : (
        <div className="space-y-4">
          {FATES.map((one) => (
            <Fate key={one.fate} diff={data} {...one} />
          ))}
        </div>
      )}
    </>
  );
}

interface FateProps {
  diff: Diff;
  fate: (typeof FATES)[number]["fate"];
  title: string;
  tone: Tone;
}

function Fate({ diff, fate, title, tone }: FateProps) {
  const [some, total] = [diff[fate], diff[`${fate}_total`]];
  if (total === 0) return null;
  return (
    <Card title={title} aside={<Badge tone={tone}>{count(total)}</Badge>}>
      <ul className="-my-2.5 divide-y">
        {some.map((one) => (
          <li key={`${one.memory_type} ${one.id}`} className="py-2.5">
            <Line changed={one} />
          </li>
        ))}
      </ul>
      {total > some.length && (
        <p className="mt-4 text-sm text-ink-3">
          These are {SHOWN}; choose a shorter time to see the others.
        </p>
      )}
    </Card>
  );
}

function Line({ changed }: { changed: Changed }) {
  const { before, after } = changed;
  const isReworded = before !== null && after !== null && before !== after;
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-1">
      <div className="min-w-0 flex-1 basis-64">
        {isReworded && <Superseded text={before} />}
        <MemoryLink kind={changed.memory_type} id={changed.id} className="hover:underline">
          <span className="memory-text line-clamp-3">{after ?? before}</span>
        </MemoryLink>
        {changed.at && (
          <p className="text-xs text-ink-3">
            {changed.actor && `${by(changed.actor)} · `}
            <TimeAgo at={changed.at} />
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-1.5">
        {changed.what.map((one) => (
          <Badge key={one} title={words(one)}>
            {words(one)}
          </Badge>
        ))}
        <Badge tone="accent">{changed.memory_type}</Badge>
      </div>
    </div>
  );
}

function daysAgo(days: number): string {
  const date = new Date();
  date.setDate(date.getDate() - days);
  return dayOf(date);
}
