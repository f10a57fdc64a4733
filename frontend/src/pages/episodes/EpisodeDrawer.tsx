import { useQuery } from "@tanstack/react-query";
import { RotateCcw, Trash2 } from "lucide-react";
import type { Schemas } from "@/api/client";
import { forget, restore } from "@/memory/changes";
import { EpisodeState, GAVE_UP } from "@/memory/EpisodeState";
import { EraseButton } from "@/memory/EraseButton";
import { History } from "@/memory/History";
import { LongText } from "@/memory/LongText";
import { episodeDetail } from "@/pages/episodes/queries";
import { useRetry } from "@/pages/episodes/retry";
import { useChange } from "@/shell/change";
import type { MemoryDrawerProps } from "@/shell/Drawers";
import { SessionLink } from "@/memory/SessionLink";
import { MemoryLink } from "@/shell/MemoryLink";
import { GoneNote } from "@/shell/GoneNote";
import { usePast } from "@/shell/past";
import { PastNote } from "@/shell/PastNote";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { plural, words } from "@/ui/format";
import { Detail, Details, Section } from "@/ui/Section";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type Episode = Schemas["Episode"];
type EpisodeDetail = Schemas["EpisodeDetail"];

/** An episode, what was drawn from it, and whether it was learned from at all. */
export default function EpisodeDrawer({ id, onClose }: MemoryDrawerProps) {
  const past = usePast();
  const { data, error } = useQuery(episodeDetail(id, past));
  const retry = useRetry();
  const change = useChange();
  if (!data)
    return (
      <Drawer kicker="Episode" title="…" onClose={onClose}>
        <SkeletonRows rows={6} />
      </Drawer>
    );
  const { episode } = data;
  // By the server's clock: what was forgotten a moment ago has expired already.
  const isExpired = data.provenance.nodes.some((one) => one.id === id && one.state === "expired");
  const isStuck = GAVE_UP.has(episode.consolidation_status) && !isExpired;
  return (
    <Drawer kicker={`Episode · ${episode.butler}`} title={episode.content} onClose={onClose}>
      <PastNote />
      <GoneNote error={error} />
      {!past && (
        <div className="mb-5 flex flex-wrap gap-2">
          {isStuck && (
            <Button kind="primary" busy={retry.isPending} onClick={() => retry.mutate([id])}>
              <RotateCcw /> Retry
            </Button>
          )}
          {isExpired ? (
            <Button busy={change.isPending} onClick={() => change.mutate(restore("episode", id))}>
              <RotateCcw /> Restore
            </Button>
          ) : (
            <Button
              kind="danger"
              busy={change.isPending}
              onClick={() => change.mutate(forget("episode", id))}
            >
              <Trash2 /> Forget
            </Button>
          )}
          <EraseButton target={{ kind: "episode", id }} onGone={onClose} />
        </div>
      )}
      {isExpired && (
        <p className="mb-5 rounded-lg bg-sunken px-3.5 py-2.5 text-sm text-ink-2">
          It expired <TimeAgo at={episode.expires_at} />, or was forgotten: agents no longer find
          it, and the next cleanup deletes it. What was learned from it stays.
        </p>
      )}
      <LongText text={episode.content} />
      <Section title="Consolidation" aside={<EpisodeState status={episode.consolidation_status} />}>
        <Consolidation episode={episode} />
      </Section>
      <Section title="What was drawn from it">
        <Drawn detail={data} />
      </Section>
      <Section title="Details">
        <EpisodeDetails episode={episode} isExpired={isExpired} />
      </Section>
      <Section title="History">
        <History kind="episode" id={id} />
      </Section>
    </Drawer>
  );
}

/** The facts and rules that name this episode as their source. */
function Drawn({ detail: { episode, provenance } }: { detail: EpisodeDetail }) {
  const drawn = provenance.nodes.filter((one) => one.id !== episode.id);
  if (drawn.length === 0)
    return (
      <p className="text-sm text-ink-2">
        {episode.consolidated
          ? "Nothing that was worth keeping was found in it."
          : "Nothing yet: it has not been consolidated."}
      </p>
    );
  return (
    <>
      <ul className="-my-2 divide-y">
        {drawn.map((one) => (
          <li key={one.id} className="py-2">
            <span className="mb-1 flex items-center gap-1.5">
              <Badge tone="accent">{one.memory_type}</Badge>
              <Badge>{one.state === "active" ? "current" : words(one.state)}</Badge>
              <span className="ml-auto text-xs text-ink-3">
                <TimeAgo at={one.created_at} />
              </span>
            </span>
            <MemoryLink kind={one.memory_type} id={one.id} className="hover:underline">
              <span className="memory-text line-clamp-3">
                {one.label ?? `The ${one.memory_type} is gone; only its trace is left.`}
              </span>
            </MemoryLink>
          </li>
        ))}
      </ul>
      {!provenance.complete && (
        <p className="mt-3 text-sm text-ink-3">There are more than are listed here.</p>
      )}
    </>
  );
}

function Consolidation({ episode }: { episode: Episode }) {
  const error = episode.last_consolidation_error;
  return (
    <div className="space-y-2 text-sm text-ink-2">
      <p>
        {episode.consolidation_attempts === 0
          ? "No consolidation has read it yet."
          : `Read in ${plural(episode.consolidation_attempts, "attempt")}.`}
        {episode.next_consolidation_retry_at && (
          <>
            {" "}
            The next one comes <TimeAgo at={episode.next_consolidation_retry_at} />.
          </>
        )}
      </p>
      {error && (
        <p className="memory-text rounded-lg bg-bad-soft px-3 py-2 text-bad-ink">{error}</p>
      )}
    </div>
  );
}

function EpisodeDetails({ episode, isExpired }: { episode: Episode; isExpired: boolean }) {
  return (
    <Details>
      <Detail name="Happened">
        <TimeAgo at={episode.occurred_at} />
      </Detail>
      <Detail name="Importance">{episode.importance} of 10</Detail>
      <Detail name="Told by">
        {episode.butler}
        {episode.speaker && `, of what ${episode.speaker} said`}
      </Detail>
      <Detail name="Session">
        <SessionLink id={episode.session_id} none="none" />
      </Detail>
      <Detail name={isExpired ? "Expired" : "Expires"}>
        <TimeAgo at={episode.expires_at} />
      </Detail>
      <Detail name="Id">
        <code className="font-mono text-xs break-all text-ink-2">{episode.id}</code>
      </Detail>
    </Details>
  );
}
