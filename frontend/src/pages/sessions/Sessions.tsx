import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { ButlerSelect } from "@/memory/ButlerSelect";
import { SessionLine } from "@/memory/SessionLine";
import { sessionPages } from "@/pages/sessions/queries";
import { Button } from "@/ui/Button";
import { Code, EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { More } from "@/ui/More";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";

const route = getRouteApi("/memory/sessions");

/** What was told and asked in one go, and what memory made of it. */
export default function Sessions() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (butler: string | undefined) =>
    void navigate({ search: (now) => ({ ...now, butler }), replace: true, resetScroll: false });
  const pages = useInfiniteQuery(sessionPages(search));
  const sessions = pages.data?.pages.flatMap((one) => one.items);
  const total = pages.data?.pages[0]?.total;
  return (
    <Page
      title="Sessions"
      lead="What agents stored and read in each session, and what memory learned from it."
    >
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <ButlerSelect value={search.butler} onChange={filter} />
        <p className="text-sm text-ink-3" role="status">
          {total !== undefined && plural(total, "session")}
        </p>
      </div>
      {!sessions ? (
        <SkeletonRows rows={8} className="h-14" />
      ) : sessions.length === 0 ? (
        search.butler ? (
          <EmptyState
            icon={MessagesSquare}
            title={`No session of ${search.butler}`}
            action={<Button onClick={() => filter(undefined)}>Show those of all butlers</Button>}
          >
            Sessions are kept as long as anything that came from them is.
          </EmptyState>
        ) : (
          <EmptyState icon={MessagesSquare} title="No session yet">
            A session is known by the id that an agent gives with its episodes and questions: the
            parameter <Code>session_id</Code> of <Code>memory_store_episode</Code>.
          </EmptyState>
        )
      ) : (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-card">
          {sessions.map((one) => (
            <li key={one.session_id} className="px-5 py-3.5">
              <SessionLine session={one} />
            </li>
          ))}
        </ul>
      )}
      <More pages={pages} />
    </Page>
  );
}
