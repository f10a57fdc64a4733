import { useInfiniteQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { MessagesSquare } from "lucide-react";
import { Message } from "@/pages/journal/Message";
import { stream, type JournalEvent } from "@/pages/journal/queries";
import type { JournalSearch } from "@/pages/journal/route";
import { usePast } from "@/shell/past";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { SearchBox } from "@/ui/Field";
import { plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

interface StreamProps {
  companion: string;
  search: JournalSearch;
  onChange: (part: Partial<JournalSearch>) => void;
}

/** What was said, the newest first, untouched. */
export function Stream({ companion, search: { actor, tag }, onChange }: StreamProps) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    stream(companion, { actor, tag }, usePast()),
  );
  const total = data?.pages[0]?.total;
  const events = data?.pages.flatMap((one) => one.events);
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchBox
          label="Speaker"
          placeholder="Anybody"
          value={actor ?? ""}
          onChange={(name) => onChange({ actor: name || undefined })}
          className="w-40"
          slash
        />
        <SearchBox
          label="Tag"
          placeholder="Any tag"
          value={tag ?? ""}
          onChange={(name) => onChange({ tag: name || undefined })}
          className="w-40"
        />
        <p className="ml-auto text-sm text-ink-3" role="status">
          {total !== undefined && `${plural(total, "message")} in this journal`}
        </p>
      </div>
      {!events ? (
        <SkeletonRows rows={8} className="h-14" />
      ) : events.length === 0 ? (
        <EmptyState icon={MessagesSquare} title="No message fits">
          A speaker and a tag are matched as a whole: <em>user</em>, <em>plan</em>, <em>say</em>.
        </EmptyState>
      ) : (
        <ol className="space-y-3">
          {events.map((one) => (
            <li
              key={one.id}
              className={clsx("flex", one.by_companion ? "justify-start" : "justify-end")}
            >
              <Message
                event={one}
                companion={companion}
                beside={one.tags.map((name, index) => (
                  <Badge key={index}>{name}</Badge>
                ))}
              >
                {isMoreThanShown(one) && (
                  <details className="mt-1.5 text-sm text-ink-2">
                    <summary>As it was written</summary>
                    <p className="memory-text mt-1 rounded-md bg-sunken p-2 font-mono text-xs text-ink">
                      {one.content}
                    </p>
                  </details>
                )}
              </Message>
            </li>
          ))}
        </ol>
      )}
      {hasNextPage && (
        <div className="mt-5 flex justify-center">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older messages
          </Button>
        </div>
      )}
    </>
  );
}

function isMoreThanShown({ content, shown }: JournalEvent): boolean {
  return (
    shown
      .map((one) => one.text)
      .join("\n")
      .trim() !== content.trim()
  );
}
