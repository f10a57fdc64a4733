import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { addressOf } from "@/api/tenant";
import type { JournalEvent } from "@/pages/journal/queries";
import { session } from "@/shell/session";
import { Code } from "@/ui/EmptyState";
import { Markdown } from "@/ui/Markdown";
import { TimeAgo } from "@/ui/TimeAgo";

interface MessageProps {
  event: JournalEvent;
  companion: string;
  /** Beside the speaker and the time. */
  beside?: ReactNode;
  /** Below what was said. */
  children?: ReactNode;
}

/** A message as the conversation shows it: who, when, the picture, what was said and done. */
export function Message({ event, companion, beside, children }: MessageProps) {
  return (
    <article
      className={clsx(
        "max-w-[min(40rem,92%)] rounded-xl border px-4 py-2.5 text-left shadow-card",
        event.by_companion ? "bg-surface" : "border-transparent bg-accent-soft",
      )}
    >
      <p className="mb-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-2">
        <span className="font-medium text-ink">{event.called}</span> <TimeAgo at={event.ts} />
        {beside}
      </p>
      {event.image_path?.startsWith("picture:") && <Picture of={event} companion={companion} />}
      {event.image_path && !event.image_path.startsWith("picture:") && (
        <p className="text-ink-2 italic">
          a picture at <Code>{event.image_path}</Code>
        </p>
      )}
      {event.shown.length > 0 ? (
        <Pieces pieces={event.shown} isTyped={!event.by_companion} />
      ) : (
        !event.image_path && (
          <p className="text-ink-2 italic">
            {event.by_companion ? "thinks, and says nothing" : "keeps something in mind"}
          </p>
        )
      )}
      {children}
    </article>
  );
}

function Picture({ of, companion }: { of: JournalEvent; companion: string }) {
  const { data: me } = useQuery(session);
  if (!me) return null;
  return (
    <img
      src={addressOf(`/api/journal/${encodeURIComponent(companion)}/events/${of.id}/picture`)}
      alt={`Picture of message ${of.id}`}
      loading="lazy"
      className="my-1 max-h-80 rounded-md"
    />
  );
}

interface PiecesProps {
  pieces: readonly Schemas["ShownPiece"][];
  /** By a person: shown as it was typed. What a model writes is Markdown. */
  isTyped?: boolean;
  /** More is being written. */
  growing?: boolean;
}

/** What was said, and in italics what was done. */
export function Pieces({ pieces, isTyped = false, growing = false }: PiecesProps) {
  return pieces.map(({ kind, text }, index) => {
    const style = clsx((kind === "do" || kind === "narrate") && "italic");
    return isTyped ? (
      <p key={index} className={clsx("memory-text", style)}>
        {text}
      </p>
    ) : (
      <div key={index} className={style}>
        <Markdown text={text} growing={growing && index === pieces.length - 1} />
      </div>
    );
  });
}
