import clsx from "clsx";
import { ChevronRight } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { EpisodeState } from "@/memory/EpisodeState";
import { TrustBadge } from "@/memory/TrustBadge";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { plural } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";

interface EpisodeItemProps {
  episode: Schemas["ListedEpisode"];
  /** A box that chooses it, in a list where that leads to something. */
  box?: ReactNode;
  /** What can be done about it, under its text. */
  children?: ReactNode;
}

/** An episode of a stream: its beginning, which a press unfolds. */
export function EpisodeItem({ episode, box, children }: EpisodeItemProps) {
  const [unfolded, setUnfolded] = useState(false);
  const rest = episode.content_length - episode.content.length;
  return (
    <li className="px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        {box}
        <Badge tone="accent">{episode.butler}</Badge>
        <EpisodeState status={episode.consolidation_status} />
        <TrustBadge trust={episode.trust} />
        <span className="text-xs text-ink-3" title="From 0 to 10, as the butler judged it.">
          importance {episode.importance}
        </span>
        <span className="ml-auto text-xs text-ink-3">
          <TimeAgo at={episode.occurred_at} />
        </span>
      </div>
      <button
        type="button"
        aria-expanded={unfolded}
        onClick={() => setUnfolded((now) => !now)}
        className="mt-1.5 flex w-full items-start gap-1.5 rounded text-left"
      >
        <ChevronRight
          aria-hidden
          className={clsx("mt-0.5 size-4 shrink-0 text-ink-3", unfolded && "rotate-90")}
        />
        <span className={clsx("memory-text min-w-0", !unfolded && "line-clamp-2")}>
          {episode.content}
          {rest > 0 && "…"}
        </span>
      </button>
      {episode.last_consolidation_error && !episode.consolidated && (
        <p className="memory-text mt-1.5 ml-5.5 text-sm text-bad-ink">
          {episode.last_consolidation_error}
        </p>
      )}
      {unfolded && (
        <p className="mt-2 ml-5.5 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <MemoryLink kind="episode" id={episode.id}>
            {rest > 0 ? `All of it, ${plural(rest, "more character")}` : "What was drawn from it"}
          </MemoryLink>
          {episode.session_id && (
            <MemoryLink kind="session" id={episode.session_id}>
              Its session
            </MemoryLink>
          )}
        </p>
      )}
      {children && <div className="mt-2 ml-5.5 flex gap-2">{children}</div>}
    </li>
  );
}
