import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { factDetail } from "@/pages/facts/queries";
import type { MemoryDrawerProps } from "@/shell/Drawers";
import { FactState } from "@/shell/FactState";
import { PERMANENCE_MEANING } from "@/shell/vocabulary";
import { Badge } from "@/ui/Badge";
import { ConfidenceBar } from "@/ui/Bars";
import { Drawer } from "@/ui/Drawer";
import { words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

export default function FactDrawer({ id, onClose }: MemoryDrawerProps) {
  const { data } = useQuery(factDetail(id));
  const fact = data?.fact;
  return (
    <Drawer
      kicker={fact ? `${fact.subject} · ${words(fact.predicate)}` : "Fact"}
      title={fact?.content ?? "…"}
      onClose={onClose}
    >
      {!fact ? (
        <SkeletonRows rows={6} />
      ) : (
        <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-y-3 text-sm">
          <Detail name="Confidence">
            <ConfidenceBar
              effective={fact.effective_confidence ?? fact.confidence}
              base={fact.confidence}
            />
          </Detail>
          <Detail name="State">
            {fact.lifecycle_state === "active" ? (
              <Badge tone="good">current</Badge>
            ) : (
              <FactState state={fact.lifecycle_state} />
            )}
          </Detail>
          <Detail name="Permanence">
            {fact.permanence}, {PERMANENCE_MEANING[fact.permanence]}
          </Detail>
          <Detail name="Scope">{fact.scope}</Detail>
          <Detail name="Learned by">{fact.source_butler ?? "nobody in particular"}</Detail>
          <Detail name="Learned">
            <TimeAgo at={fact.created_at} />
          </Detail>
          <Detail name="Last confirmed">
            <TimeAgo at={fact.last_confirmed_at} />
          </Detail>
        </dl>
      )}
    </Drawer>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
