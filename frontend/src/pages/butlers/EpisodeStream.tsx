import { useQuery } from "@tanstack/react-query";
import { EpisodeItem } from "@/memory/EpisodeItem";
import { butlerEpisodes } from "@/pages/butlers/queries";
import { count } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

/** What a butler told last, to fold away (DASH-09). */
export function EpisodeStream({ butler }: { butler: string }) {
  const { data } = useQuery(butlerEpisodes(butler));
  return (
    <details open className="group mt-8 overflow-hidden rounded-xl border bg-surface shadow-card">
      <summary className="cursor-pointer px-4 py-3 font-semibold hover:bg-sunken">
        Episodes{" "}
        {data && (
          <span className="ml-1 text-xs font-normal text-ink-3">
            {data.total > data.items.length
              ? `the latest ${data.items.length} of ${count(data.total)}`
              : count(data.total)}
          </span>
        )}
      </summary>
      <div className="border-t">
        {!data ? (
          <div className="p-4">
            <SkeletonRows rows={3} className="h-14" />
          </div>
        ) : data.items.length === 0 ? (
          <p className="px-4 py-6 text-ink-2">
            It has told nothing yet. An episode is what happened, in the words of the agent that was
            there.
          </p>
        ) : (
          <ol className="divide-y">
            {data.items.map((one) => (
              <EpisodeItem key={one.id} episode={one} />
            ))}
          </ol>
        )}
      </div>
    </details>
  );
}
