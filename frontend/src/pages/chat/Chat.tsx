import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import clsx from "clsx";
import { Undo2 } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { answer, api } from "@/api/client";
import { ApiError } from "@/api/problem";
import { Composer } from "@/pages/chat/Composer";
import { Found } from "@/pages/chat/Found";
import { here, Introduce } from "@/pages/chat/Introduce";
import { OnItsMind } from "@/pages/chat/OnItsMind";
import { useConversation } from "@/pages/chat/said";
import { follow, type ShownPiece, type TurnEnd } from "@/pages/chat/turn";
import { maskedOf, undoItem } from "@/pages/journal/corrections";
import { Message, Pieces } from "@/pages/journal/Message";
import { companionOption, companions, type JournalEvent } from "@/pages/journal/queries";
import { useChange, useUnsaved } from "@/shell/change";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/EmptyState";
import { session } from "@/shell/session";
import { SearchBox, Select } from "@/ui/Field";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { toastError } from "@/ui/toasts";

const route = getRouteApi("/chat");

export default function Chat() {
  const { companion: wanted, q } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: known } = useQuery(companions);
  const companion =
    wanted ?? (known?.find(({ name }) => name === "default") ?? known?.[0])?.name ?? "default";
  const exists = known?.some(({ name }) => name === companion) ?? false;
  const isSearching = q !== undefined && exists;
  return (
    <Page
      title="Chat"
      lead="Talk with a companion that remembers. Your message is kept before the model is asked."
      actions={
        <>
          {exists && (
            <SearchBox
              label="Search the conversation"
              placeholder="Search what was said"
              value={q ?? ""}
              onChange={(words) =>
                void navigate({
                  search: { companion: wanted, q: words.trim() || undefined },
                  replace: true,
                })
              }
              className="w-56"
            />
          )}
          {known && known.length > 1 && (
            <Select
              label="Companion"
              value={companion}
              onChange={(name) => void navigate({ search: { companion: name } })}
              options={known.map(companionOption)}
            />
          )}
        </>
      }
    >
      {known ? (
        <>
          {isSearching && <Found key={`found ${companion}`} companion={companion} question={q} />}
          <Talk
            key={`talk ${companion}`}
            companion={companion}
            exists={exists}
            hidden={isSearching}
          />
        </>
      ) : (
        <SkeletonRows rows={6} className="h-14" />
      )}
    </Page>
  );
}

type Failed = Extract<TurnEnd, { kind: "failed" }>;

/** The line under a message: what it kept, ended or could not find, and an item that it changed. */
interface Note {
  lines: readonly string[];
  undoes?: number | undefined;
  /** Sends the message again with what was masked in it. */
  keep?: (() => void) | undefined;
}

interface TalkProps {
  companion: string;
  exists: boolean;
  /** While one searches: what was typed and noted stays for afterwards. */
  hidden: boolean;
}

function Talk({ companion, exists, hidden }: TalkProps) {
  const queries = useQueryClient();
  const change = useChange();
  const isDemo = useQuery(session).data?.demo;
  const said = useConversation(companion, exists);
  const events = said.events ?? [];
  const newest = events.at(-1);
  // What only keeps something in mind asks nobody for an answer.
  const waiting = events.findLast((one) => one.by_companion || showsSomething(one));
  const unanswered = waiting && !waiting.by_companion ? waiting : undefined;
  const [pieces, setPieces] = useState<readonly ShownPiece[]>([]);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Failed>();
  const [notes, setNotes] = useState<ReadonlyMap<number, Note>>(new Map());
  // Kept in here: what was typed stays when the first message closes the form.
  const [introduction, setIntroduction] = useState(here);
  const [introduced, setIntroduced] = useState(introduction);
  useUnsaved(introduction !== introduced);
  // Until somebody opens or closes the form, it is open before the first message.
  const [wantsForm, setWantsForm] = useState<boolean>();
  const isRead = !exists || said.events !== undefined;
  const isIntroducing = isRead && (wantsForm ?? events.length === 0);
  const looking = useRef<AbortController>(undefined);
  const { whole, end, stay } = useAtEnd();

  const refresh = useCallback(
    () => queries.invalidateQueries({ queryKey: ["journal"] }),
    [queries],
  );
  /** Looks on at the reply until it ends. */
  const look = useCallback(async () => {
    looking.current?.abort();
    const mine = (looking.current = new AbortController());
    let seen = false;
    try {
      const ended = await follow(
        companion,
        (now) => {
          seen = true;
          setBusy(true);
          setPieces(now);
        },
        mine.signal,
      );
      if (mine.signal.aborted) return;
      if (ended?.kind === "answered") {
        const { event } = ended;
        // A late look knows less than who looked on.
        setNotes((before) =>
          before.has(event.id) ? before : noted(before, event.id, noteOf(ended)),
        );
      }
      setFailed(ended?.kind === "failed" ? ended : undefined);
      if (seen || ended?.kind === "answered") await refresh();
    } catch (error) {
      // That the server is away is told by the page.
      if (!mine.signal.aborted && error instanceof ApiError && !error.isAway) toastError(error);
    } finally {
      if (!mine.signal.aborted) {
        looking.current = undefined;
        setBusy(false);
        setPieces([]);
      }
    }
  }, [companion, refresh]);

  // A reply may be under way: begun before a reload, or in another window, whenever one looks.
  const { lookedAt } = said;
  const asked = unanswered?.id;
  useEffect(() => {
    if (asked !== undefined && looking.current === undefined) void look();
  }, [asked, lookedAt, look]);
  useEffect(
    () => () => {
      looking.current?.abort();
      looking.current = undefined;
    },
    [],
  );

  const begin = async (
    text: string | null,
    picture?: string,
    { blind = false, allow_secrets = false } = {},
  ) => {
    looking.current?.abort();
    // Until the message is kept there is nothing to look at.
    looking.current = new AbortController();
    setBusy(true);
    setFailed(undefined);
    stay();
    let isKept = true;
    try {
      const { logged } = await answer(
        api.POST("/api/journal/{companion}/turns", {
          params: { path: { companion } },
          body: { content: text, picture: picture ?? null, blind, allow_secrets },
        }),
      );
      if (logged) {
        const { secrets, noted: kept, unmatched } = logged;
        const note = {
          lines: [...(secrets ? [maskedOf(secrets)] : []), ...kept, ...unmatched],
          undoes: kept.length ? logged.changed[0]?.id : undefined,
          keep: secrets ? () => void begin(text, picture, { allow_secrets: true }) : undefined,
        };
        setNotes((before) => noted(before, logged.event_id, note));
      }
    } catch (error) {
      isKept = false;
      toastError(error);
    }
    // After a refusal too: another window's reply may be what stood in the way.
    void refresh();
    void look();
    return isKept;
  };
  const takeBack = (id: number, item: number) =>
    change.mutate(undoItem(companion, item), () =>
      setNotes((before) => noted(before, id, { lines: ["taken back"] })),
    );
  const stop = () =>
    void answer(
      api.DELETE("/api/journal/{companion}/turns/current", { params: { path: { companion } } }),
    ).catch(toastError);

  return (
    <div hidden={hidden} className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <section ref={whole} aria-label="Conversation" className="min-w-0 lg:order-first">
        {said.hasOlder && (
          <div className="mb-4 flex justify-center">
            <Button small busy={said.isLoadingOlder} onClick={said.loadOlder}>
              Older messages
            </Button>
          </div>
        )}
        {!isRead ? (
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
              <Message event={one} companion={companion} />
              <Noted
                note={notes.get(one.id)}
                busy={change.isPending || busy}
                onUndo={(item) => takeBack(one.id, item)}
              />
            </li>
          ))}
        </ol>
        <Heard newest={newest} />
        {busy && (
          <div
            aria-busy
            data-growing
            className="mt-3 max-w-[min(40rem,92%)] rounded-xl border bg-surface px-4 py-2.5 shadow-card"
          >
            {pieces.length === 0 ? (
              <p className="animate-pulse text-ink-2 italic">thinking …</p>
            ) : (
              <Pieces pieces={pieces} growing />
            )}
          </div>
        )}
        <div role="status">
          {failed &&
            !busy &&
            (failed.answers === unanswered?.id || failed.answers === newest?.id) && (
              <div className="mt-3 rounded-lg bg-warn-soft px-3.5 py-2.5 text-sm text-warn-ink">
                <p className="font-semibold">No reply; your message is kept.</p>
                <p className="memory-text first-letter:uppercase">
                  {isDemo ? "A demonstration asks no language model." : failed.detail}
                </p>
                {failed.code === "configuration" && !isDemo && (
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
            {unanswered.image_path && (
              <Button small onClick={() => void begin(null, undefined, { blind: true })}>
                Ask without the picture
              </Button>
            )}
          </p>
        )}
        {isIntroducing && (
          <Introduce
            companion={companion}
            said={introduction}
            onSay={setIntroduction}
            onDone={() => {
              setIntroduced(introduction);
              setWantsForm(false);
            }}
          />
        )}
        <Composer
          companion={companion}
          busy={busy}
          last={lastSaid(events)}
          onSend={begin}
          onStop={stop}
        />
        {events.length > 0 && (
          <Button
            small
            kind="quiet"
            aria-expanded={isIntroducing}
            onClick={() => setWantsForm(!isIntroducing)}
          >
            Introduce yourself
          </Button>
        )}
        <div ref={end} />
      </section>
      {exists && <OnItsMind companion={companion} />}
    </div>
  );
}

interface NotedProps {
  note: Note | undefined;
  busy: boolean;
  onUndo: (item: number) => void;
}

function Noted({ note, busy, onUndo }: NotedProps) {
  if (!note || note.lines.length === 0) return null;
  const { lines, undoes, keep } = note;
  return (
    <p className="mt-1 flex max-w-[92%] flex-wrap items-center gap-1.5 text-xs text-ink-3">
      <span className="memory-text">{lines.join("; ")}</span>
      {keep && (
        <Button small kind="quiet" disabled={busy} onClick={keep}>
          Send it as typed
        </Button>
      )}
      {undoes !== undefined && (
        <Button small kind="quiet" disabled={busy} onClick={() => onUndo(undoes)}>
          <Undo2 /> Undo
        </Button>
      )}
    </p>
  );
}

/** Tells a screen reader what the companion has said: once, when it is all there. */
function Heard({ newest }: { newest: JournalEvent | undefined }) {
  const known = useRef<number>(undefined);
  known.current ??= newest?.id;
  const isNew = newest !== undefined && newest.by_companion && newest.id !== known.current;
  return (
    <p aria-live="polite" className="sr-only">
      {isNew && `${newest.called}: ${newest.shown.map(({ text }) => text).join(" ")}`}
    </p>
  );
}

/**
 * Keeps the end in view while there is more to come, for who has it in view or has just sent. Whatever
 * makes the conversation longer counts, such as a picture that arrives after its message.
 */
function useAtEnd() {
  const whole = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const isSeen = useRef(true);
  useEffect(() => {
    if (!whole.current || !end.current) return;
    // A new size is reported before the other reports that the end has left the view.
    const grown = new ResizeObserver(() => {
      if (isSeen.current) end.current?.scrollIntoView({ block: "end" });
    });
    const seen = new IntersectionObserver(
      ([entry]) => {
        // Hidden, it has no width, and that it is out of view says nothing.
        if (entry?.boundingClientRect.width) isSeen.current = entry.isIntersecting;
      },
      { rootMargin: "0px 0px 100px 0px" },
    );
    grown.observe(whole.current);
    seen.observe(end.current);
    return () => {
      grown.disconnect();
      seen.disconnect();
    };
  }, []);
  const stay = () => {
    isSeen.current = true;
  };
  return { whole, end, stay };
}

function showsSomething(one: JournalEvent): boolean {
  return one.shown.length > 0 || one.image_path !== null;
}

function lastSaid(events: readonly JournalEvent[]): string | undefined {
  const last = events.findLast((one) => !one.by_companion && one.shown.length > 0);
  return last?.shown.map(({ text }) => text).join("\n");
}

function noted(before: ReadonlyMap<number, Note>, id: number, note: Note) {
  return new Map(before).set(id, note);
}

function noteOf(ended: Extract<TurnEnd, { kind: "answered" }>): Note {
  const looked = ended.looked_up.length ? [`looked up: ${ended.looked_up.join(", ")}`] : [];
  const cut = ended.cut
    ? [`cut off; what there was is kept${ended.problem ? `: ${ended.problem}` : ""}`]
    : [];
  return {
    lines: [...looked, ...cut, ...ended.noted, ...ended.unmatched],
    undoes: ended.noted.length ? ended.changed[0] : undefined,
  };
}
