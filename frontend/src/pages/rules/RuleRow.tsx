import clsx from "clsx";
import { move } from "@/pages/rules/changes";
import { RuleActs } from "@/pages/rules/RuleActs";
import { RuleState } from "@/pages/rules/RuleState";
import type { ListedRule } from "@/pages/rules/queries";
import { useChange } from "@/shell/change";
import { MemoryLink } from "@/shell/MemoryLink";
import { usePastDays } from "@/shell/past";
import type { Selection } from "@/shell/selection";
import { Badge } from "@/ui/Badge";
import { EffectivenessBar } from "@/ui/Bars";
import { SelectBox } from "@/ui/Field";
import { count } from "@/ui/format";

interface RuleRowProps {
  rule: ListedRule;
  isOpen: boolean;
  selection: Selection;
}

/** A rule of the playbook: what it says, how it fared, and its switches (DASH-07). */
export function RuleRow({ rule, isOpen, selection }: RuleRowProps) {
  const change = useChange();
  const past = usePastDays();
  const isOff = rule.state === "disabled" || rule.state === "forgotten";
  return (
    <li
      className={clsx(
        "group relative flex flex-wrap items-center gap-x-5 gap-y-2 px-4 py-3",
        isOpen ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      {!past && (
        <div className="relative z-[1]">
          <SelectBox
            label={rule.content}
            checked={selection.ids.has(rule.id)}
            onChange={() => selection.toggle(rule.id)}
          />
        </div>
      )}
      <div className="min-w-0 flex-1 basis-64">
        <MemoryLink
          kind="rule"
          id={rule.id}
          className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          <span className={clsx("memory-text line-clamp-2", isOff && "text-ink-3")}>
            {rule.content}
          </span>
        </MemoryLink>
        <div className="mt-1 flex flex-wrap items-center gap-1.5">
          <Badge tone={rule.scope === "global" ? "neutral" : "accent"}>{rule.scope}</Badge>
          <RuleState rule={rule} />
        </div>
      </div>
      <div className="flex w-52 flex-col gap-1 max-sm:flex-1">
        <EffectivenessBar effectiveness={rule.effectiveness_score} applied={rule.applied_count} />
        <Counts rule={rule} />
      </div>
      <div className="relative z-[1] flex w-24 justify-end">
        {!past && (
          <RuleActs
            rule={rule}
            small
            busy={change.isPending}
            onAct={(act) => change.mutate(move(act, rule.id))}
          />
        )}
      </div>
    </li>
  );
}

export function Counts({
  rule,
}: {
  rule: Pick<ListedRule, "applied_count" | "success_count" | "harmful_count">;
}) {
  if (rule.applied_count === 0) return null;
  return (
    <span className="text-xs text-ink-3">
      {count(rule.applied_count)} applied,{" "}
      <span className="text-good-ink">{count(rule.success_count)} helped</span>
      {rule.harmful_count > 0 && (
        <>
          , <span className="text-bad-ink">{count(rule.harmful_count)} harmed</span>
        </>
      )}
    </span>
  );
}
