import { useInfiniteQuery } from "@tanstack/react-query";
import clsx from "clsx";
import {
  Award,
  Check,
  Medal,
  Power,
  PowerOff,
  RotateCcw,
  Sprout,
  Trash2,
  TriangleAlert,
  type LucideIcon,
} from "lucide-react";
import { useId } from "react";
import { confirm, forget, restore } from "@/memory/changes";
import { move } from "@/pages/rules/changes";
import { RuleRow } from "@/pages/rules/RuleRow";
import { rulePages } from "@/pages/rules/queries";
import type { RulesSearch, SHOWN } from "@/pages/rules/route";
import { usePast } from "@/shell/past";
import { useSelection } from "@/shell/selection";
import { SelectionBar, type Act } from "@/shell/SelectionBar";
import type { Maturity } from "@/shell/vocabulary";
import { Button } from "@/ui/Button";
import { count, plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

interface Look {
  title: string;
  meaning: string;
  icon: LucideIcon;
  color: string;
}

const LOOKS: Record<Maturity, Look> = {
  proven: {
    title: "Proven",
    meaning: "Helped so often, for so long, that agents hold to them.",
    icon: Award,
    color: "bg-good-soft text-good-ink",
  },
  established: {
    title: "Established",
    meaning: "Helped several times; on the way to being proven.",
    icon: Medal,
    color: "bg-accent-soft text-accent-ink",
  },
  candidate: {
    title: "Candidates",
    meaning: "New, or not yet tried enough to be trusted.",
    icon: Sprout,
    color: "bg-sunken text-ink-2",
  },
  anti_pattern: {
    title: "Anti-patterns",
    meaning: "Did harm too often: agents get them as warnings of what not to do.",
    icon: TriangleAlert,
    color: "bg-bad-soft text-bad-ink",
  },
};

const CONFIRM: Act = {
  label: "Confirm",
  icon: <Check />,
  said: (many) => `${plural(many, "rule")} confirmed.`,
  each: (id) => confirm("rule", id),
};
const DISABLE: Act = {
  label: "Switch off",
  icon: <PowerOff />,
  said: (many) => `${plural(many, "rule")} switched off.`,
  each: (id) => move("disable", id),
};
const ENABLE: Act = {
  label: "Switch on",
  icon: <Power />,
  said: (many) => `${plural(many, "rule")} switched on.`,
  each: (id) => move("enable", id),
};
const FORGET: Act = {
  label: "Forget",
  icon: <Trash2 />,
  said: (many) => `${plural(many, "rule")} forgotten.`,
  each: (id) => forget("rule", id),
};
const RESTORE: Act = {
  label: "Restore",
  icon: <RotateCcw />,
  said: (many) => `${plural(many, "rule")} restored.`,
  each: (id) => restore("rule", id),
};
const ACTS: Record<(typeof SHOWN)[number], readonly Act[]> = {
  kept: [CONFIRM, DISABLE, FORGET],
  fading: [CONFIRM, DISABLE, FORGET],
  disabled: [ENABLE, FORGET],
  forgotten: [RESTORE],
};

interface RuleGroupProps {
  maturity: Maturity;
  search: RulesSearch;
  openId: string | undefined;
}

/** The rules of one maturity; nothing where there are none. */
export function RuleGroup({ maturity, search, openId }: RuleGroupProps) {
  const id = useId();
  const past = usePast();
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    rulePages({ ...search, maturity }, past),
  );
  const selection = useSelection(JSON.stringify(search));
  const rules = data?.pages.flatMap((one) => one.items);
  const { title, meaning, icon: Icon, color } = LOOKS[maturity];
  const total = data?.pages[0]?.total;
  if (total === 0) return null;
  return (
    <section aria-labelledby={id} className="mb-8">
      <header className="mb-3 flex items-center gap-3">
        <span
          className={clsx("flex size-9 shrink-0 items-center justify-center rounded-lg", color)}
        >
          <Icon className="size-4.5" aria-hidden />
        </span>
        <div className="min-w-0">
          <h2 id={id} className="text-lg leading-5 font-semibold">
            {title}
            {total !== undefined && (
              <span className="ml-2 text-sm font-normal text-ink-3">{count(total)}</span>
            )}
          </h2>
          <p className="text-sm text-ink-3">{meaning}</p>
        </div>
      </header>
      {rules && !past && (
        <SelectionBar
          selection={selection}
          ids={rules.map((one) => one.id)}
          acts={ACTS[search.show ?? "kept"]}
        />
      )}
      {!rules ? (
        <SkeletonRows rows={3} className="h-16" />
      ) : (
        <ul className="divide-y overflow-clip rounded-xl border bg-surface shadow-card">
          {rules.map((rule) => (
            <RuleRow key={rule.id} rule={rule} isOpen={rule.id === openId} selection={selection} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button
          small
          kind="quiet"
          className="mt-2"
          busy={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </section>
  );
}
