import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useSearch, type LinkProps } from "@tanstack/react-router";
import { Circle, CircleCheck, X } from "lucide-react";
import { useEffect, type ReactNode } from "react";
import { asked, type Schemas } from "@/api/client";
import { dayOf } from "@/shell/days";
import { session } from "@/shell/session";
import { useStored } from "@/shell/stored";
import { IconButton } from "@/ui/Button";

type Event = Schemas["Event"];

const START = "/memory";
const MONTHS_BACK = 3;
// A visitor who went so far back has seen the past.
const FAR_BACK_DAYS = 60;
const DAY = 86_400_000;
// Of what happened lately: more than one does in a tour.
const EVENTS = 50;

interface Visit {
  path: string;
  receipt: string | undefined;
  knownAt: string | undefined;
}

interface Step {
  name: string;
  title: string;
  /** What to do, in a sentence or two. */
  say: string;
  link: string;
  to: LinkProps["to"];
  search: LinkProps["search"];
  /** Whether it is what this page is for now. */
  isHere: (visit: Visit) => boolean;
  /** Whether what the visitor did shows it, an event of the log. */
  isShownBy?: (event: Event) => boolean;
  /** Whether the visit itself is all that there is to do. */
  isVisited?: (visit: Visit) => boolean;
}

const STEPS: readonly Step[] = [
  {
    name: "correct",
    title: "Correct a fact",
    say: "Ana's piano lessons are on Thursdays now. Open the fact, press Edit, say so, and save. The old version stays in the archive.",
    link: "Go to the fact",
    to: "/memory/facts",
    search: { q: "piano lessons" },
    isHere: ({ path, knownAt }) => path === "/memory/facts" && !knownAt,
    isShownBy: (event) => event.event_type === "fact_superseded",
  },
  {
    name: "why",
    title: "See why a context says what it says",
    say: "Open the newest context: each line has the scores that put it there. Replay makes it again, byte for byte.",
    link: "Go to the contexts",
    to: "/memory/contexts",
    search: {},
    isHere: ({ path }) => path === "/memory/contexts",
    isVisited: ({ path, receipt }) => path === "/memory/contexts" && Boolean(receipt),
  },
  {
    name: "undo",
    title: "Undo a merge",
    say: "Prof. Teresa was merged into Teresa Antunes. Open Prof. Teresa and press Undo the merge: each has its own facts again.",
    link: "Go to the merged entities",
    to: "/memory/entities",
    search: { show: "merged" },
    isHere: ({ path }) => path === "/memory/entities",
    isShownBy: ({ event_type, payload }) =>
      event_type === "change_undone" && "entity_merge" in ((payload["events"] as object) ?? {}),
  },
  {
    name: "back",
    title: "Look back three months",
    say: "The facts as memory knew them then: the family still lived in Lisbon. Move the slider to see them change, then press Back to now.",
    link: "Go three months back",
    to: "/memory/facts",
    search: () => ({ known_at: threeMonthsAgo(), sort: "importance" }),
    isHere: ({ path, knownAt }) => path === "/memory/facts" && Boolean(knownAt),
    isVisited: ({ path, knownAt }) =>
      path === "/memory/facts" &&
      knownAt !== undefined &&
      Date.now() - Date.parse(knownAt) > FAR_BACK_DAYS * DAY,
  },
];

const done = asked(["tour"], "/api/memory/events", {
  query: { kind: ["fact_superseded", "change_undone"], limit: EVENTS },
});

/** Four things to try in a demonstration; each ticks itself once it was done. */
export default function Tour() {
  const { pathname } = useLocation();
  const { known_at: knownAt } = useSearch({ from: "__root__" });
  const { receipt, q } = useSearch({ strict: false }) as { receipt?: string; q?: string };
  const visit = { path: pathname, receipt, knownAt };
  const isDone = useDone(visit);
  const [hidden, hide] = useStored("tour-hidden", sessionStorage);
  if (hidden) return null;
  const here = STEPS.find((one) => one.isHere(visit));
  const next = STEPS.find((one) => !isDone(one));
  const ticked = STEPS.filter(isDone).length;
  const progress = `${ticked} of ${STEPS.length} done`;
  return (
    <section
      aria-label="Guided tour"
      className="on-screen relative border-b bg-accent-soft px-4 py-3 pr-12 text-accent-ink sm:px-8 sm:pr-14"
    >
      <IconButton
        label="Hide the tour"
        title="Hide the tour"
        onClick={() => hide("yes")}
        className="absolute top-1.5 right-2 text-accent-ink sm:right-4"
      >
        <X />
      </IconButton>
      {/* What was searched for is to be seen without scrolling. */}
      {pathname === START && !q ? (
        <Steps isDone={isDone} progress={progress} />
      ) : (
        <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
          <span role="status" className="min-w-0 flex-1 basis-80">
            {here && <b className="font-semibold">{here.title}. </b>}
            {here ? toldOf(here, isDone(here)) : `Guided tour: ${progress}.`}
          </span>
          {next && next !== here && <StepLink step={next}>Next: {next.title}</StepLink>}
          <Link to={START} className="font-medium underline hover:no-underline">
            All steps
          </Link>
        </p>
      )}
    </section>
  );
}

function Steps({ isDone, progress }: { isDone: (step: Step) => boolean; progress: string }) {
  return (
    <>
      <h2 className="font-semibold">A made-up household, and four things to try</h2>
      <p className="mb-3 text-sm" role="status">
        Guided tour: {progress}. All of it is made up; nothing that you do here touches your own
        memory.
      </p>
      <ol className="-mr-8 grid gap-3 sm:-mr-6 sm:grid-cols-2 xl:grid-cols-4">
        {STEPS.map((one) => (
          <li key={one.name} className="flex flex-col rounded-lg border bg-surface p-3.5 text-ink">
            <h3 className="flex items-center gap-2 font-medium">
              {isDone(one) ? (
                <CircleCheck className="size-4 shrink-0 text-good-ink" aria-hidden />
              ) : (
                <Circle className="size-4 shrink-0 text-ink-3" aria-hidden />
              )}
              <span>
                {one.title}
                {isDone(one) && <span className="sr-only"> (done)</span>}
              </span>
            </h3>
            <p className="mt-1.5 mb-2 flex-1 text-sm text-ink-2">{one.say}</p>
            <StepLink step={one}>{one.link}</StepLink>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Where the visit is all there is to do, what to look at stays. */
function toldOf(step: Step, isDone: boolean): string {
  return isDone && step.isShownBy ? "Done." : step.say;
}

function StepLink({ step, children }: { step: Step; children: ReactNode }) {
  return (
    <Link
      to={step.to}
      search={step.search}
      className="self-start font-medium text-accent-ink underline hover:no-underline"
    >
      {children}
    </Link>
  );
}

/** Which steps are done: shown by the log, which tells who did what, or visited in this window. */
function useDone(visit: Visit): (step: Step) => boolean {
  const { data: me } = useQuery(session);
  const { data: told } = useQuery(done);
  const [visited, setVisited] = useStored("tour-visited", sessionStorage);
  const names = visited?.split(" ") ?? [];
  const now = STEPS.find((one) => one.isVisited?.(visit) && !names.includes(one.name));
  useEffect(() => {
    if (now) setVisited([...names, now.name].join(" "));
  });
  const mine = told?.items.filter((one) => one.actor === me?.actor) ?? [];
  return (step) =>
    names.includes(step.name) || mine.some((event) => step.isShownBy?.(event) ?? false);
}

function threeMonthsAgo(): string {
  const day = new Date();
  day.setMonth(day.getMonth() - MONTHS_BACK);
  return dayOf(day);
}
