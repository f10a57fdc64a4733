import { useQuery } from "@tanstack/react-query";
import { Check, Pencil, RotateCcw, Trash2, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { confirm, forget, restore } from "@/memory/changes";
import { DecayChart } from "@/memory/DecayChart";
import { EraseButton } from "@/memory/EraseButton";
import { History } from "@/memory/History";
import { LongText } from "@/memory/LongText";
import { ProvenanceGraph } from "@/memory/ProvenanceGraph";
import { TagList } from "@/memory/TagList";
import { TrustBadge } from "@/memory/TrustBadge";
import { Applications } from "@/pages/rules/Applications";
import { move } from "@/pages/rules/changes";
import { ruleDetail } from "@/pages/rules/queries";
import { RuleActs } from "@/pages/rules/RuleActs";
import { RuleForm } from "@/pages/rules/RuleForm";
import { Counts } from "@/pages/rules/RuleRow";
import { RuleState } from "@/pages/rules/RuleState";
import { useChange } from "@/shell/change";
import type { MemoryDrawerProps } from "@/shell/Drawers";
import { GoneNote } from "@/shell/GoneNote";
import { usePast, usePastDays } from "@/shell/past";
import { PastNote } from "@/shell/PastNote";
import { PERMANENCE_MEANING } from "@/shell/vocabulary";
import { EffectivenessBar } from "@/ui/Bars";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { plural, words } from "@/ui/format";
import { Detail, Details, Section } from "@/ui/Section";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type RuleDetail = Schemas["RuleDetail"];

/** A rule, how it fared, where it came from, and all that a person can do about it. */
export default function RuleDrawer({ id, onClose }: MemoryDrawerProps) {
  const { data, error } = useQuery(ruleDetail(id, usePast()));
  // As it was when editing began: what others do meanwhile must not change what one is editing.
  const [edited, setEdited] = useState<RuleDetail>();
  return (
    <Drawer
      kicker={data ? `Rule · ${words(data.rule.maturity)} · ${data.rule.scope}` : "Rule"}
      title={data?.rule.content ?? "…"}
      onClose={onClose}
    >
      {!data ? (
        <SkeletonRows rows={6} />
      ) : edited ? (
        <RuleForm
          rule={edited.rule}
          revision={edited.revision}
          onDone={() => setEdited(undefined)}
        />
      ) : (
        <>
          <GoneNote error={error} />
          <Look detail={data} onEdit={() => setEdited(data)} onGone={onClose} />
        </>
      )}
    </Drawer>
  );
}

interface LookProps {
  detail: RuleDetail;
  onEdit: () => void;
  onGone: () => void;
}

function Look({ detail, onEdit, onGone }: LookProps) {
  const { rule } = detail;
  const isPast = usePastDays() !== undefined;
  return (
    <>
      <PastNote />
      {!isPast && <Actions detail={detail} onEdit={onEdit} onGone={onGone} />}
      <Warning rule={rule} />
      <LongText text={rule.content} />
      <Section
        title="How it worked"
        aside={
          <span className="flex gap-1">
            <RuleState rule={rule} />
          </span>
        }
      >
        <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1">
          <EffectivenessBar effectiveness={rule.effectiveness_score} applied={rule.applied_count} />
          <Counts rule={rule} />
        </div>
        <Applications applications={detail.applications} total={detail.applications_total} />
      </Section>
      <Section title="Confidence">
        <DecayChart
          decay={detail.decay}
          isCurrent={rule.state === "active" || rule.state === "fading"}
        />
      </Section>
      <Section title="Why it is known">
        <ProvenanceGraph graph={detail.provenance} id={rule.id} />
      </Section>
      <Section title="Details">
        <RuleDetails rule={rule} />
      </Section>
      <Section title="History">
        <History kind="rule" id={rule.id} />
      </Section>
    </>
  );
}

function Actions({ detail, onEdit, onGone }: LookProps) {
  const change = useChange();
  const { rule, revision } = detail;
  const busy = change.isPending;
  if (rule.state === "forgotten")
    return (
      <div className="mb-5 flex flex-wrap gap-2">
        <Button kind="primary" busy={busy} onClick={() => change.mutate(restore("rule", rule.id))}>
          <RotateCcw /> Restore
        </Button>
        <EraseButton target={{ kind: "rule", id: rule.id }} onGone={onGone} />
      </div>
    );
  return (
    <div className="mb-5 flex flex-wrap gap-2">
      <Button kind="primary" busy={busy} onClick={() => change.mutate(confirm("rule", rule.id))}>
        <Check /> Confirm
      </Button>
      <RuleActs
        rule={rule}
        busy={busy}
        onAct={(act) => change.mutate(move(act, rule.id, revision))}
      />
      <Button disabled={busy} onClick={onEdit}>
        <Pencil /> Edit
      </Button>
      <Button kind="danger" busy={busy} onClick={() => change.mutate(forget("rule", rule.id))}>
        <Trash2 /> Forget
      </Button>
      <EraseButton target={{ kind: "rule", id: rule.id }} onGone={onGone} />
    </div>
  );
}

/** What an anti-pattern is, and what it said before it turned into one. */
function Warning({ rule }: { rule: Schemas["StatedRule"] }) {
  if (rule.maturity !== "anti_pattern") return null;
  const before = rule.metadata["original_content"];
  return (
    <div className="mb-5 flex gap-2.5 rounded-lg border border-bad bg-bad-soft p-3.5 text-sm text-bad-ink">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0">
        <p>It did harm too often, so that agents now get it as a warning of what not to do.</p>
        {typeof before === "string" && (
          <p className="memory-text mt-1">
            It used to say: <q>{before}</q>
          </p>
        )}
      </div>
    </div>
  );
}

function RuleDetails({ rule }: { rule: Schemas["StatedRule"] }) {
  return (
    <Details>
      <Detail name="Maturity">{words(rule.maturity)}</Detail>
      <Detail name="Permanence">
        {rule.permanence}, {PERMANENCE_MEANING[rule.permanence]}
      </Detail>
      <Detail name="Trust">
        <TrustBadge trust={rule.trust} />
      </Detail>
      <Detail name="Scope">
        {rule.scope === "global" ? "global, for every butler" : `${rule.scope} alone`}
      </Detail>
      <Detail name="Tags">
        <TagList tags={rule.tags} />
      </Detail>
      <Detail name="Learned">
        <TimeAgo at={rule.created_at} />
        {rule.source_butler && `, by ${rule.source_butler}`}
      </Detail>
      <Detail name="Last applied">
        <TimeAgo at={rule.last_applied_at} />
      </Detail>
      <Detail name="Last confirmed">
        <TimeAgo at={rule.last_confirmed_at} />
      </Detail>
      <Detail name="Used">
        {plural(rule.reference_count, "time")}
        {rule.reference_count > 0 && (
          <>
            , last <TimeAgo at={rule.last_referenced_at} />
          </>
        )}
      </Detail>
      <Detail name="Id">
        <code className="font-mono text-xs break-all text-ink-2">{rule.id}</code>
      </Detail>
    </Details>
  );
}
