import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { BookOpenCheck, Hourglass, PowerOff, Trash2 } from "lucide-react";
import { RuleFilters } from "@/pages/rules/RuleFilters";
import { RuleGroup } from "@/pages/rules/RuleGroup";
import { rulesTotal } from "@/pages/rules/queries";
import { SHOWN, type RulesSearch } from "@/pages/rules/route";
import { MATURITIES, type Maturity } from "@/shell/vocabulary";
import { isFiltered, own } from "@/shell/filters";
import { LookBack } from "@/shell/LookBack";
import { keptPast, usePast } from "@/shell/past";
import { SavedViews } from "@/shell/SavedViews";
import { Code, EmptyState, NoneFits } from "@/ui/EmptyState";
import { lengthOf } from "@/ui/format";
import { Page } from "@/ui/Page";
import { Tabs } from "@/ui/Tabs";

const route = getRouteApi("/memory/rules");

const TABS = [
  { name: "kept", label: "Playbook" },
  { name: "fading", label: "Fading" },
  { name: "disabled", label: "Switched off" },
  { name: "forgotten", label: "Forgotten" },
] as const satisfies readonly { name: (typeof SHOWN)[number]; label: string }[];

/** How agents are to behave, by how well each rule has earned it (DASH-07). */
export default function Rules() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { open } = search;
  const { show = "kept", ...filters } = own(search);
  const { sort: _, ...narrowing } = filters;
  const wanted = { show, ...filters };
  const change = (part: Partial<RulesSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });
  // A tab is a view of its own: Back leads to the one before.
  const turnTo = (show: RulesSearch["show"]) =>
    void navigate({ search: (now) => ({ ...now, show }), resetScroll: false });
  const groups: readonly Maturity[] = filters.maturity ? [filters.maturity] : MATURITIES;
  const { data: known } = useQuery(rulesTotal(wanted, usePast()));
  return (
    <Page
      title="Rules"
      lead="How your agents have learned to behave. A rule is promoted for each time it helped, and turned into a warning where it keeps doing harm."
      actions={
        <>
          <SavedViews page="rules" search={{ show: search.show, ...filters }} />
          <LookBack />
        </>
      }
    >
      <Tabs
        label="Which rules"
        value={show}
        tabs={TABS}
        onChange={(name) => turnTo(name === "kept" ? undefined : name)}
      >
        <RuleFilters search={filters} onChange={change} />
        <p className="mb-4 text-sm text-ink-3" role="status">
          {known && lengthOf(known, "rule")}
        </p>
        {known?.total === 0 ? (
          <Nothing
            show={show}
            filtered={isFiltered(narrowing)}
            onClear={() => void navigate({ search: (now) => ({ ...keptPast(now), show }) })}
          />
        ) : (
          groups.map((one) => (
            <RuleGroup
              key={one}
              maturity={one}
              search={wanted}
              openId={open?.startsWith("rule:") ? open.slice("rule:".length) : undefined}
            />
          ))
        )}
      </Tabs>
    </Page>
  );
}

interface NothingProps {
  show: (typeof SHOWN)[number];
  filtered: boolean;
  onClear: () => void;
}

function Nothing({ show, filtered, onClear }: NothingProps) {
  if (filtered) return <NoneFits icon={BookOpenCheck} what="rule" onClear={onClear} />;
  switch (show) {
    case "kept":
      return (
        <EmptyState icon={BookOpenCheck} title="No rule was learned yet">
          A rule says what to do and when: <em>confirm dates by naming the weekday</em>. Agents
          store what they learn, and consolidation finds rules in episodes. Try{" "}
          <Code>memory-butler store-rule &quot;Answer first, reasons after&quot;</Code>
        </EmptyState>
      );
    case "fading":
      return (
        <EmptyState icon={Hourglass} title="No rule is fading">
          A rule that is neither applied nor confirmed loses confidence over time. Below 20&nbsp;%
          it appears here.
        </EmptyState>
      );
    case "disabled":
      return (
        <EmptyState icon={PowerOff} title="Every rule is on">
          A rule that you switch off stays here, and no agent gets it until you switch it on again.
        </EmptyState>
      );
    case "forgotten":
      return (
        <EmptyState icon={Trash2} title="No rule was forgotten">
          A rule that you or an agent forgets is kept here, from where it can be restored.
        </EmptyState>
      );
  }
}
