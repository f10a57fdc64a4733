import { useQuery } from "@tanstack/react-query";
import { SearchX } from "lucide-react";
import { Message } from "@/pages/journal/Message";
import { found } from "@/pages/journal/queries";
import { EmptyState } from "@/ui/EmptyState";
import { SkeletonRows } from "@/ui/Skeleton";
import { exact } from "@/ui/format";

/** What was said about something, however long ago, each between what stood before and after it. */
export function Found({ companion, question }: { companion: string; question: string }) {
  const { data, isPlaceholderData } = useQuery(found(companion, question));
  if (!data) return <SkeletonRows rows={4} className="h-20" />;
  return (
    <section aria-label="What was found" aria-busy={isPlaceholderData} className="space-y-6">
      {data.length === 0 && (
        <EmptyState icon={SearchX} title="Nothing was found">
          It searches all that was said, by words and by meaning. What was said a moment ago is
          found by its words alone.
        </EmptyState>
      )}
      {data.map(({ event, before, after }) => (
        <div key={event.id} className="space-y-1.5">
          <p className="text-xs font-medium text-ink-2">{exact(new Date(event.ts))}</p>
          {[before, event, after].map(
            (one) =>
              one && (
                <div key={one.id} className={one === event ? undefined : "opacity-75"}>
                  <Message event={one} companion={companion} />
                </div>
              ),
          )}
        </div>
      ))}
    </section>
  );
}
