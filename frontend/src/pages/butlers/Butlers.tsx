import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { butlerList } from "@/memory/ButlerSelect";
import { Figures, Seen } from "@/pages/butlers/Figures";
import { HealthBadge } from "@/pages/butlers/HealthBadge";
import type { Butler } from "@/pages/butlers/queries";
import { Code, EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";
import { Skeleton } from "@/ui/Skeleton";

/** Everyone that tells memory something, with how their memory fares. */
export default function Butlers() {
  const { data: butlers } = useQuery(butlerList);
  return (
    <Page
      title="Butlers"
      lead="Your agents: what each has learned, what it may draw on, and whether memory keeps up with it."
    >
      {butlers?.length === 0 ? (
        <EmptyState icon={Bot} title="No butler has stored anything yet">
          A butler is an agent that shares this memory under its own name. It appears here with its
          first episode or fact. Try{" "}
          <Code>memory-butler store-episode &quot;We met at noon&quot; home</Code>
        </EmptyState>
      ) : (
        <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
          {butlers
            ? butlers.map((one) => <ButlerCard key={one.name} butler={one} />)
            : Array.from({ length: 3 }, (_, index) => (
                <li key={index}>
                  <Skeleton className="h-52 w-full" />
                </li>
              ))}
        </ul>
      )}
    </Page>
  );
}

function ButlerCard({ butler }: { butler: Butler }) {
  const params = { butler: butler.name };
  return (
    <li className="flex min-w-0 flex-col rounded-xl border bg-surface p-5 shadow-card">
      <div className="flex items-start justify-between gap-3">
        <h2 className="memory-text min-w-0 text-lg font-semibold">
          <Link to="/butlers/$butler" params={params} className="hover:underline">
            {butler.name}
          </Link>
        </h2>
        <span className="shrink-0">
          <HealthBadge health={butler.health} />
        </span>
      </div>
      <p className="mb-4">
        <Seen butler={butler} />
      </p>
      <Figures butler={butler} />
      <p className="mt-5 flex gap-4 border-t pt-3 text-sm font-medium text-accent-ink">
        <Link to="/butlers/$butler" params={params} className="hover:underline">
          Overview<span className="sr-only"> of {butler.name}</span>
        </Link>
        <Link to="/butlers/$butler/memory" params={params} className="hover:underline">
          Memory<span className="sr-only"> of {butler.name}</span>
        </Link>
      </p>
    </li>
  );
}
