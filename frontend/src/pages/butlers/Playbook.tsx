import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import type { Schemas } from "@/api/client";
import { butlerRules } from "@/pages/butlers/queries";
import { MemoryLink } from "@/shell/MemoryLink";
import { MATURITIES } from "@/shell/vocabulary";
import { Badge } from "@/ui/Badge";
import { EffectivenessBar } from "@/ui/Bars";
import { Card } from "@/ui/Card";
import { count, words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

type Rule = Schemas["ListedRule"];

/** How a butler behaves: its rules, the best tried first (DASH-07). */
export function Playbook({ butler }: { butler: string }) {
  const { data } = useQuery(butlerRules(butler));
  return (
    <Card title="Playbook" note="How this butler behaves, by how well it was tried">
      {!data ? (
        <SkeletonRows rows={6} className="h-14" />
      ) : data.items.length === 0 ? (
        <p className="text-ink-2">
          No rules yet. A rule says how to act; consolidation finds them in episodes, and agents
          report whether they helped.
        </p>
      ) : (
        <div className="space-y-5">
          {MATURITIES.map((maturity) => (
            <Group
              key={maturity}
              name={words(maturity)}
              rules={data.items.filter((one) => one.maturity === maturity)}
            />
          ))}
          {data.total > data.items.length && (
            <p className="text-sm text-ink-3">
              These are {data.items.length} of {count(data.total)} rules, the most effective.
            </p>
          )}
        </div>
      )}
    </Card>
  );
}

function Group({ name, rules }: { name: string; rules: readonly Rule[] }) {
  if (rules.length === 0) return null;
  return (
    <section aria-label={name}>
      <h3 className="mb-1 flex items-baseline justify-between text-sm font-semibold">
        <span className="inline-block first-letter:uppercase">{name}</span>{" "}
        <span className="text-xs font-normal text-ink-3">{count(rules.length)}</span>
      </h3>
      <ul className="divide-y">
        {rules.map((one) => (
          <RuleLine key={one.id} rule={one} />
        ))}
      </ul>
    </section>
  );
}

function RuleLine({ rule }: { rule: Rule }) {
  return (
    <li className="py-2.5">
      <MemoryLink kind="rule" id={rule.id} className="hover:underline">
        <span className="memory-text line-clamp-3 text-sm">
          {rule.maturity === "anti_pattern" && (
            <TriangleAlert
              aria-label="Warning"
              className="mr-1 inline size-3.5 -translate-y-px text-warn-ink"
            />
          )}
          {rule.content}
        </span>
      </MemoryLink>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={rule.scope === "global" ? "neutral" : "accent"}>{rule.scope}</Badge>
        <EffectivenessBar effectiveness={rule.effectiveness_score} applied={rule.applied_count} />
      </div>
      {rule.applied_count > 0 && (
        <p className="mt-1 text-xs text-ink-3">
          {count(rule.applied_count)} applied, {count(rule.success_count)} helped,{" "}
          {count(rule.harmful_count)} harmed
        </p>
      )}
    </li>
  );
}
