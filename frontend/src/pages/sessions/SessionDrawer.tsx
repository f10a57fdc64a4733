import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { EraseButton } from "@/memory/EraseButton";
import { EpisodeState } from "@/memory/EpisodeState";
import { sessionDetail } from "@/pages/sessions/queries";
import { FactState } from "@/shell/FactState";
import type { MemoryDrawerProps } from "@/shell/Drawers";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar, EffectivenessBar } from "@/ui/Bars";
import { Drawer } from "@/ui/Drawer";
import { plural, words } from "@/ui/format";
import { Section } from "@/ui/Section";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type Detail = Schemas["SessionDetail"];

/** A session: what was learned from it (DASH-16), what it told, and what it was given. */
export default function SessionDrawer({ id, onClose }: MemoryDrawerProps) {
  const { data } = useQuery(sessionDetail(id));
  return (
    <Drawer
      kicker={data ? `Session · ${data.session.butlers.join(", ")}` : "Session"}
      title={`Session ${id.slice(0, 8)}`}
      onClose={onClose}
    >
      {!data ? (
        <SkeletonRows rows={6} />
      ) : (
        <>
          <p className="mb-5 text-sm text-ink-2">
            Ended <TimeAgo at={data.session.ended_at} />, began{" "}
            <TimeAgo at={data.session.began_at} />.
          </p>
          {data.episodes.length > 0 && (
            <div className="mb-5">
              <EraseButton target={{ kind: "session", id }} onGone={onClose} />
            </div>
          )}
          <Learned detail={data} />
          <Told episodes={data.episodes} />
          <Served answers={data.served} />
        </>
      )}
    </Drawer>
  );
}

function Learned({ detail: { facts, rules, episodes } }: { detail: Detail }) {
  const waiting = episodes.filter((one) => !one.consolidated).length;
  return (
    <Section title="Memories from this session">
      {facts.length + rules.length === 0 ? (
        <p className="text-sm text-ink-2">
          {waiting > 0
            ? `Nothing yet: ${plural(waiting, "episode")} of it ${waiting === 1 ? "waits" : "wait"} to be consolidated.`
            : "Nothing that was worth keeping was found in it."}
        </p>
      ) : (
        <ul className="-my-2.5 divide-y">
          {facts.map((one) => (
            <Line
              key={one.id}
              heading={
                <>
                  <Badge tone="accent">fact</Badge>
                  <Badge>{one.subject}</Badge>
                  <span className="text-xs text-ink-3">{words(one.predicate)}</span>
                  <FactState state={one.lifecycle_state} />
                </>
              }
              figure={<ConfidenceBar effective={one.effective_confidence} base={one.confidence} />}
            >
              <MemoryLink kind="fact" id={one.id} className="hover:underline">
                <span className="memory-text line-clamp-3">{one.content}</span>
              </MemoryLink>
            </Line>
          ))}
          {rules.map((one) => (
            <Line
              key={one.id}
              heading={
                <>
                  <Badge tone="accent">rule</Badge>
                  <Badge>{words(one.maturity)}</Badge>
                </>
              }
              figure={
                <EffectivenessBar
                  effectiveness={one.effectiveness_score}
                  applied={one.applied_count}
                />
              }
            >
              <MemoryLink kind="rule" id={one.id} className="hover:underline">
                <span className="memory-text line-clamp-3">{one.content}</span>
              </MemoryLink>
            </Line>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Told({ episodes }: { episodes: Detail["episodes"] }) {
  return (
    <Section title="What it stored">
      {episodes.length === 0 ? (
        <p className="text-sm text-ink-2">Its episodes have expired and are deleted.</p>
      ) : (
        <ol className="-my-2.5 divide-y">
          {episodes.map((one) => (
            <Line
              key={one.id}
              heading={
                <>
                  <Badge tone="accent">{one.butler}</Badge>
                  <EpisodeState status={one.consolidation_status} />
                </>
              }
              figure={
                <span className="text-xs text-ink-3">
                  <TimeAgo at={one.occurred_at} />
                </span>
              }
            >
              <MemoryLink kind="episode" id={one.id} className="hover:underline">
                <span className="memory-text line-clamp-4">{one.content}</span>
              </MemoryLink>
            </Line>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Served({ answers }: { answers: Detail["served"] }) {
  if (answers.length === 0) return null;
  return (
    <Section title="What it was given">
      <ol className="space-y-4">
        {answers.map((one, index) => (
          <li key={index}>
            <p className="flex items-center gap-2 text-sm">
              <Badge>{one.operation}</Badge>
              <span className="text-ink-2">{plural(one.items.length, "memory", "memories")}</span>
              <span className="ml-auto text-xs text-ink-3">
                <TimeAgo at={one.served_at} />
              </span>
            </p>
            <ul className="mt-1.5 space-y-1 text-sm text-ink-2">
              {one.items.map((item) => (
                <li key={item.id} className="memory-text line-clamp-2">
                  {item.memory_type && item.label ? (
                    <MemoryLink kind={item.memory_type} id={item.id} className="hover:underline">
                      {item.label}
                    </MemoryLink>
                  ) : (
                    <span className="text-ink-3">a memory that is gone</span>
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Section>
  );
}

interface LineProps {
  heading: ReactNode;
  figure: ReactNode;
  children: ReactNode;
}

function Line({ heading, figure, children }: LineProps) {
  return (
    <li className="py-2.5">
      <div className="mb-1 flex items-center justify-between gap-3">
        <span className="flex min-w-0 flex-wrap items-center gap-1.5">{heading}</span>
        {figure}
      </div>
      {children}
    </li>
  );
}
