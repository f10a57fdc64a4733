import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { MessageSquareDashed } from "lucide-react";
import { ApiError } from "@/api/problem";
import { prompt, type PromptPart } from "@/pages/journal/queries";
import { usePast } from "@/shell/past";
import { Card } from "@/ui/Card";
import { CopyButton } from "@/ui/CopyButton";
import { EmptyState } from "@/ui/EmptyState";
import { count, plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

const PARTS: Record<PromptPart["part"], string> = {
  wake: "Wake",
  image: "Image",
  ambient: "What it knows",
  lingering: "Lingering",
  recalled: "Recalled",
  recent: "Recent",
  time: "Time",
  hot: "The message",
};

/** The prompt as it would be now: every part, its tokens, and what found no room. */
export function Prompt({ companion }: { companion: string }) {
  const { data, error } = useQuery({ ...prompt(companion, usePast()), throwOnError: isUnexpected });
  if (error)
    return (
      <EmptyState icon={MessageSquareDashed} title="There is nothing to answer yet">
        {error.message}
      </EmptyState>
    );
  if (!data) return <SkeletonRows rows={8} className="h-14" />;
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0 space-y-4">
        {data.parts
          .filter((one) => one.text || one.left_out.length > 0)
          .map((one) => (
            <Part key={one.part} part={one} />
          ))}
      </div>
      <div className="space-y-4 xl:sticky xl:top-6">
        <Card title="Tokens" note={`${count(data.total)} in all`}>
          <ul className="space-y-3">
            {data.parts
              .filter((one) => one.cap !== null)
              .map(({ part, tokens, cap }) => (
                <Filled key={part} name={PARTS[part]} used={tokens} cap={cap ?? 0} />
              ))}
          </ul>
        </Card>
        <Card title="Recent messages" note="Each pool has its own room, then shares the last one">
          <ul className="space-y-3">
            {data.pools.map(({ pool, used, cap }) => (
              <Filled key={pool} name={pool} used={used} cap={cap} />
            ))}
          </ul>
        </Card>
        {data.warnings.length > 0 && (
          <Card title="Warnings">
            <ul className="list-disc space-y-1 pl-4 text-sm text-warn-ink">
              {data.warnings.map((one, index) => (
                <li key={index}>{one}</li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </div>
  );
}

/** A journal in which nobody has said anything has no prompt: told here, not on the error page. */
function isUnexpected(error: Error): boolean {
  return !(error instanceof ApiError && (error.status === 404 || error.status === 409));
}

function Part({ part }: { part: PromptPart }) {
  return (
    <Card
      title={PARTS[part.part]}
      note={`${plural(part.tokens, "token")}${part.cap === null ? "" : ` of ${count(part.cap)}`}`}
      aside={<CopyButton text={part.text} />}
    >
      {part.text && (
        <p
          tabIndex={0}
          role="region"
          aria-label={`Text of ${PARTS[part.part]}`}
          className="memory-text max-h-96 overflow-y-auto rounded-md bg-sunken p-3 font-mono text-xs leading-5"
        >
          {part.text}
        </p>
      )}
      {part.left_out.length > 0 && (
        <details className="mt-3 text-sm">
          <summary className="text-ink-2">{plural(part.left_out.length, "thing")} left out</summary>
          <ul className="mt-2 space-y-1 text-ink-2">
            {part.left_out.map(({ what, reason }, index) => (
              <li key={index} className="flex flex-wrap justify-between gap-x-3">
                <span className="memory-text">{what}</span>
                <span className="text-ink-3">{reason}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

function Filled({ name, used, cap }: { name: string; used: number; cap: number }) {
  const share = cap === 0 ? 0 : Math.min(1, used / cap);
  return (
    <li>
      <p className="mb-1 flex justify-between text-sm">
        <span className="text-ink-2">{name}</span>
        <span>
          {count(used)} <span className="text-ink-3">of {count(cap)}</span>
        </span>
      </p>
      <div
        role="meter"
        aria-label={`Tokens of ${name}`}
        aria-valuemin={0}
        aria-valuemax={cap}
        aria-valuenow={used}
        className="h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div
          className={clsx("h-full rounded-full", share > 0.9 ? "bg-warn" : "bg-accent")}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </li>
  );
}
