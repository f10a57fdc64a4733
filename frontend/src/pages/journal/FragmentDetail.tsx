import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, ArrowRight } from "lucide-react";
import { fragment, type FragmentEdge } from "@/pages/journal/queries";
import { usePast } from "@/shell/past";
import { Badge } from "@/ui/Badge";
import { Card } from "@/ui/Card";
import { plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

const TIERS = ["ambient", "recognition", "inventory"] as const;

interface FragmentDetailProps {
  companion: string;
  name: string;
  onChoose: (key: string) => void;
}

/** A fragment in its three tiers, what it is linked to, what it rests on and what it was before. */
export function FragmentDetail({ companion, name, onChoose }: FragmentDetailProps) {
  const { data } = useQuery(fragment(companion, name, usePast()));
  const now = data?.fragment;
  return (
    <Card
      title={name}
      note={
        now?.updated_at && (
          <>
            changed <TimeAgo at={now.updated_at} />
          </>
        )
      }
    >
      {!data ? (
        <SkeletonRows rows={5} />
      ) : (
        <div className="space-y-4">
          {!now && <p className="text-ink-2">It was deleted; this is what it was.</p>}
          {TIERS.map((tier) => {
            const text = now?.[tier];
            return (
              text && (
                <section key={tier}>
                  <h3 className="text-xs font-medium text-ink-3">{tier}</h3>
                  <p className="memory-text mt-0.5">{text}</p>
                </section>
              )
            );
          })}
          <Links edges={now?.edges ?? []} incoming={data.incoming} onChoose={onChoose} />
          {data.sources.length > 0 && (
            <details>
              <summary className="text-sm text-ink-2">
                Rests on {plural(data.sources.length, "message")}
              </summary>
              <ul className="mt-2 space-y-2 text-sm">
                {data.sources.map((one) => (
                  <li key={one.id} className="memory-text rounded-md bg-sunken p-2">
                    <span className="text-xs text-ink-3">
                      {one.actor} <TimeAgo at={one.ts} />
                    </span>
                    <br />
                    {one.content}
                  </li>
                ))}
              </ul>
            </details>
          )}
          {data.versions.length > 0 && (
            <details>
              <summary className="text-sm text-ink-2">
                {plural(data.versions.length, "former state")}
              </summary>
              <ul className="mt-2 space-y-2 text-sm">
                {data.versions.map((one) => (
                  <li key={one.known_from}>
                    <span className="text-xs text-ink-3">
                      from <TimeAgo at={one.known_from} /> until <TimeAgo at={one.known_until} />,
                      changed by run {one.run_id}
                    </span>
                    {TIERS.map(
                      (tier) =>
                        one.fragment[tier] && (
                          <p key={tier} className="memory-text text-ink-2">
                            {one.fragment[tier]}
                          </p>
                        ),
                    )}
                  </li>
                ))}
              </ul>
            </details>
          )}
        </div>
      )}
    </Card>
  );
}

interface LinksProps {
  edges: readonly FragmentEdge[];
  incoming: readonly FragmentEdge[];
  onChoose: (key: string) => void;
}

function Links({ edges, incoming, onChoose }: LinksProps) {
  const links = [
    ...edges.map((one) => ({ key: one.target, relation: one.relation, from: false })),
    ...incoming.map((one) => ({ key: one.source, relation: one.relation, from: true })),
  ];
  if (links.length === 0) return null;
  return (
    <ul className="space-y-1 text-sm" aria-label="Links">
      {links.map(({ key, relation, from }) => (
        <li key={`${from} ${key}`} className="flex items-center gap-1.5">
          {from ? (
            <ArrowLeft className="size-3.5 text-ink-3" aria-label="from" />
          ) : (
            <ArrowRight className="size-3.5 text-ink-3" aria-label="to" />
          )}
          <button
            type="button"
            className="font-medium text-accent-ink hover:underline"
            onClick={() => onChoose(key)}
          >
            {key}
          </button>
          {relation && <Badge>{relation}</Badge>}
        </li>
      ))}
    </ul>
  );
}
