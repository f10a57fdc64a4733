import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import clsx from "clsx";
import { Undo2 } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { answer, api } from "@/api/client";
import { Composer } from "@/pages/chat/Composer";
import { OnItsMind } from "@/pages/chat/OnItsMind";
import { follow, type ShownPiece, type TurnEnd } from "@/pages/chat/turn";
import { undoItem } from "@/pages/journal/corrections";
import { companionOption, companions, stream, type JournalEvent } from "@/pages/journal/queries";
import { useChange } from "@/shell/change";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/EmptyState";
import { Select } from "@/ui/Field";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";
import { toastError } from "@/ui/toasts";

const route = getRouteApi("/chat");
// What another window or a terminal says comes by itself.
const LOOK_AGAIN_MILLISECONDS = 5_000;

export default function Chat() {
  const { companion: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: known } = useQuery(companions);
  const companion =
    wanted ?? (known?.find(({ name }) => name === "default") ?? known?.[0])?.name ?? "default";
  return (
    <Page
      title="Chat"
      lead="Talk with a companion that remembers. Your message is kept before the model is asked."
      actions={
        known &&
        known.length > 1 && (
          <Select
            label="Companion"
            value={companion}
            onChange={(name) => void navigate({ search: { companion: name } })}
            options={known.map(companionOption)}
          />
        )
      }
    >
      {known ? (
        <Talk
          key={companion}
          companion={companion}
          exists={known.some(({ name }) => name === companion)}
        />
      ) : (
        <SkeletonRows rows={6} className="h-14" />
      )}
    </Page>
  );
}

type Failed = Extract<TurnEnd, { kind: "failed" }>;

function Talk({ companion, exists }: { companion: string; exists: boolean }) {
  const queries = useQueryClient();
  const change = useChange();
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    ...stream(companion, {}),
    enabled: exists,
    refetchInterval: LOOK_AGAIN_MILLISECONDS,
  });
  const events = (data?.pages.flatMap((one) => one.events) ?? []).toReversed();
  const newest = events.at(-1);
  const [pieces, setPieces] = useState<readonly ShownPiece[]>([]);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Failed>();
  const [notes, setNotes] = useState<ReadonlyMap<number, readonly string[]>>(new Map());
  const looking = useRef<AbortController>(undefined);
  const end = useRef<HTMLDivElement>(null);

  const note = (id: number, lines: readonly string[]) =>
    setNotes((before) => new Map(before).set(id, lines));
  const refresh = useCallback(
    () => queries.invalidateQueries({ queryKey: ["journal"] }),
    [queries],
  );
  /** Looks on at the reply until it ends. */
  const look = useCallback(async () => {
    looking.current?.abort();
    const mine = (looking.current = new AbortController());
    try {
      const ended = await follow(
        companion,
        (now) => {
          setBusy(true);
          setPieces(now);
        },
        mine.signal,
      );
      if (mine.signal.aborted) return;
      if (ended?.kind === "answered") {
        const looked = ended.looked_up.length ? [`looked up: ${ended.looked_up.join(", ")}`] : [];
        const cut = ended.cut ? ["cut off; what there was is kept"] : [];
        note(ended.event.id, [...looked, ...cut, ...ended.noted, ...ended.unmatched]);
      }
      setFailed(ended?.kind === "failed" ? ended : undefined);
      if (ended) await refresh();
    } catch (error) {
      if (!mine.signal.aborted) toastError(error);
    } finally {
      if (!mine.signal.aborted) {
        setBusy(false);
        setPieces([]);
      }
    }
  }, [companion, refresh]);

  // A reply may be under way: begun before a reload, or in another window.
  const unanswered = newest !== undefined && !newest.by_companion ? newest.id : undefined;
  const isBusy = useRef(busy);
  isBusy.current = busy;
  useEffect(() => {
    if (unanswered !== undefined && !isBusy.current) void look();
  }, [unanswered, look]);
  useEffect(() => () => looking.current?.abort(), []);
  const length = pieces.reduce((sum, one) => sum + one.text.length, 0);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, [newest?.id, length, busy]);

  const begin = async (text: string | null, picture?: string, blind = false) => {
    setBusy(true);
    setFailed(undefined);
    try {
      const { logged } = await answer(
        api.POST("/api/journal/{companion}/turns", {
          params: { path: { companion } },
          body: { content: text, picture: picture ?? null, blind, allow_secrets: false },
        }),
      );
      if (logged) note(logged.event_id, [...logged.noted, ...logged.unmatched]);
    } catch (error) {
      setBusy(false);
      toastError(error);
      return false;
    }
    void refresh();
    void look();
    return true;
  };
  const stop = () =>
    void answer(
      api.DELETE("/api/journal/{companion}/turns/current", { params: { path: { companion } } }),
    ).catch(toastError);

  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <section aria-label="Conversation" className="min-w-0 lg:order-first">
        {hasNextPage && (
          <div className="mb-4 flex justify-center">
            <Button small busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Older messages
            </Button>
          </div>
        )}
        {exists && !data ? (
          <SkeletonRows rows={6} className="h-14" />
        ) : events.length === 0 ? (
          <p className="py-10 text-center text-ink-2">
            Nothing was said yet. The first message creates this companion&apos;s journal.
          </p>
        ) : null}
        <ol className="space-y-3">
          {events.map((one) => (
            <li
              key={one.id}
              className={clsx(
                "flex flex-col",
                one.by_companion ? "items-start" : "items-end text-right",
              )}
            >
              <Said event={one} companion={companion} />
              <Notes
                lines={notes.get(one.id) ?? []}
                onUndo={
                  one.id === newest?.id && !change.isPending
                    ? () => change.mutate(undoItem(companion))
                    : undefined
                }
              />
            </li>
          ))}
        </ol>
        <div aria-live="polite" aria-busy={busy}>
          {busy && (
            <div className="mt-3 max-w-[min(40rem,92%)] rounded-xl border bg-surface px-4 py-2.5 shadow-card">
              {pieces.length === 0 ? (
                <p className="animate-pulse text-ink-2 italic">thinking …</p>
              ) : (
                <Pieces pieces={pieces} />
              )}
            </div>
          )}
          {failed && !busy && unanswered !== undefined && (
            <div className="mt-3 rounded-lg bg-warn-soft px-3.5 py-2.5 text-sm text-warn-ink">
              <p className="memory-text">
                <b className="font-semibold">No reply; your message is kept.</b> {failed.detail}
              </p>
              {failed.code === "configuration" && (
                <p className="mt-1">
                  What this machine has: <Code>memory-butler doctor</Code>
                </p>
              )}
            </div>
          )}
        </div>
        {!busy && unanswered !== undefined && (
          <p className="mt-2 flex justify-end gap-2">
            <Button small onClick={() => void begin(null)}>
              Ask again
            </Button>
            {newest?.image_path && (
              <Button small onClick={() => void begin(null, undefined, true)}>
                Ask without the picture
              </Button>
            )}
          </p>
        )}
        <Composer
          companion={companion}
          busy={busy}
          last={events.findLast((one) => !one.by_companion)?.content}
          onSend={begin}
          onStop={stop}
        />
        <div ref={end} />
      </section>
      {exists && <OnItsMind companion={companion} />}
    </div>
  );
}

function Said({ event, companion }: { event: JournalEvent; companion: string }) {
  return (
    <article
      className={clsx(
        "max-w-[min(40rem,92%)] rounded-xl border px-4 py-2.5 text-left shadow-card",
        event.by_companion ? "bg-surface" : "border-transparent bg-accent-soft",
      )}
    >
      <p className="mb-0.5 text-xs text-ink-2">
        <span className="font-medium text-ink">{event.called}</span> <TimeAgo at={event.ts} />
      </p>
      {event.image_path?.startsWith("picture:") && (
        <img
          src={`/api/journal/${encodeURIComponent(companion)}/events/${event.id}/picture`}
          alt={`Picture of message ${event.id}`}
          loading="lazy"
          className="my-1 max-h-80 rounded-md"
        />
      )}
      {event.shown.length > 0 ? (
        <Pieces pieces={event.shown} />
      ) : (
        !event.image_path && (
          <p className="text-ink-2 italic">
            {event.by_companion ? "thinks, and says nothing" : "keeps something in mind"}
          </p>
        )
      )}
    </article>
  );
}

function Pieces({ pieces }: { pieces: readonly ShownPiece[] }) {
  return pieces.map(({ kind, text }, index) => (
    <p
      key={index}
      className={clsx("memory-text", (kind === "do" || kind === "narrate") && "italic")}
    >
      {text}
    </p>
  ));
}

interface NotesProps {
  lines: readonly string[];
  onUndo: (() => void) | undefined;
}

/** The line under a message: what it kept, ended or could not find. */
function Notes({ lines, onUndo }: NotesProps) {
  if (lines.length === 0) return null;
  return (
    <p className="mt-1 flex max-w-[92%] flex-wrap items-center gap-1.5 text-xs text-ink-3">
      <span className="memory-text">{lines.join("; ")}</span>
      {onUndo && (
        <Button small kind="quiet" onClick={onUndo}>
          <Undo2 /> Undo
        </Button>
      )}
    </p>
  );
}
