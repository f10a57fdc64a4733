import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { MessageCircleQuestionMark, Plus, SearchX } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { arriving } from "@/api/arriving";
import { Answer, Others } from "@/pages/ask/Answer";
import { answered, type Answered } from "@/pages/ask/queries";
import type { AskSearch } from "@/pages/ask/route";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { SearchBox } from "@/ui/Field";
import { percent, plural } from "@/ui/format";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

const NewFact = lazy(arriving(() => import("@/memory/NewFact")));

const route = getRouteApi("/memory/ask");

export default function Ask() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<AskSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  return (
    <Page
      title="Ask"
      lead="Ask a question and get what memory knows, with what each line rests on. No model is called."
    >
      <div className="mb-5" role="search">
        <SearchBox
          label="Question"
          placeholder="Where does the family live?"
          value={search.q ?? ""}
          // Another question begins with the usual bar.
          onChange={(q) => change({ q: q || undefined, min_relevance: undefined })}
          slash
        />
      </div>
      {search.q ? (
        <Answered search={search} onBar={(min_relevance) => change({ min_relevance })} />
      ) : (
        <EmptyState icon={MessageCircleQuestionMark} title="What would you like to know?">
          The answer is what your agents stored, in their words. Each line leads to its fact, rule
          or episode.
        </EmptyState>
      )}
    </Page>
  );
}

interface AnsweredProps {
  search: AskSearch;
  onBar: (least: number) => void;
}

function Answered({ search, onBar }: AnsweredProps) {
  const { data, isPlaceholderData } = useQuery(answered(search));
  if (!data) return <SkeletonRows rows={4} className="h-20" />;
  const question = search.q ?? "";
  const best = data.further[0]?.scores?.relevance ?? undefined;
  return (
    <div aria-busy={isPlaceholderData} className="space-y-4">
      {data.known ? (
        <>
          <Answer lines={data.lines} question={question} />
          {data.further.length > 0 && (
            <details>
              <summary className="cursor-pointer text-sm text-ink-2 hover:text-ink">
                {plural(data.further.length, "weaker line")}
              </summary>
              <div className="mt-2">
                <Others title="Weaker lines" memories={data.further} question={question} />
              </div>
            </details>
          )}
          <div className="flex flex-wrap items-center gap-3">
            <p className="text-sm text-ink-3">Not what you asked?</p>
            <Steps data={data} question={question} busy={isPlaceholderData} onBar={onBar} />
          </div>
        </>
      ) : (
        <>
          <EmptyState
            icon={SearchX}
            title="Nothing is known about that"
            action={
              <Steps data={data} question={question} busy={isPlaceholderData} onBar={onBar} />
            }
          >
            {best === undefined
              ? "Memory is empty here."
              : `The nearest memory has a relevance of ${percent(best)}; an answer needs ${percent(data.min_relevance)}.`}
          </EmptyState>
          {data.further.length > 0 && (
            <Others title="The nearest" memories={data.further} question={question} />
          )}
        </>
      )}
    </div>
  );
}

interface StepsProps {
  data: Answered;
  question: string;
  busy: boolean;
  onBar: (least: number) => void;
}

/** What one may do where the answer is not enough. */
function Steps({ data, question, busy, onBar }: StepsProps) {
  const [adding, setAdding] = useState(false);
  const bar = data.min_relevance;
  return (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => setAdding(true)}>
        <Plus /> Add the fact
      </Button>
      <Link to="/memory" search={{ q: question }} className={buttonClass()}>
        Search wider
      </Link>
      {bar > 0 && (data.known || data.further.length > 0) && (
        <Button busy={busy} onClick={() => onBar(lower(bar))}>
          Ask again with a lower bar
        </Button>
      )}
      <Suspense>{adding && <NewFact onClose={() => setAdding(false)} />}</Suspense>
    </div>
  );
}

/** A third of the bar; below one in twenty nothing is asked for any more. */
function lower(bar: number): number {
  const third = Math.round((bar / 3) * 100) / 100;
  return third < 0.05 ? 0 : third;
}
