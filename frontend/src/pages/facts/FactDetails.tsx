import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { entityDetail } from "@/memory/entities";
import { TagList } from "@/memory/TagList";
import { TrustBadge } from "@/memory/TrustBadge";
import { MemoryLink } from "@/shell/MemoryLink";
import { PERMANENCE_MEANING } from "@/shell/vocabulary";
import { plural } from "@/ui/format";
import { Detail, Details } from "@/ui/Section";
import { TimeAgo } from "@/ui/TimeAgo";

export function FactDetails({ fact }: { fact: Schemas["Fact"] }) {
  return (
    <Details>
      <Detail name="Permanence">
        {fact.permanence}, {PERMANENCE_MEANING[fact.permanence]}
      </Detail>
      <Detail name="Trust">
        <TrustBadge trust={fact.trust} />
      </Detail>
      <Detail name="Importance">{fact.importance} of 10</Detail>
      <Detail name="Scope">
        {fact.scope === "global" ? "global, for every butler" : `${fact.scope} alone`}
      </Detail>
      <Detail name="About">
        <span className="memory-text">{fact.subject}</span>
        {fact.entity_id && <EntityOf id={fact.entity_id} />}
      </Detail>
      <Detail name="Tags">
        <TagList tags={fact.tags} />
      </Detail>
      <Detail name="True">
        <ValidTime fact={fact} />
      </Detail>
      <Detail name="Learned">
        <TimeAgo at={fact.created_at} />
        {fact.source_butler && `, by ${fact.source_butler}`}
      </Detail>
      <Detail name="Last confirmed">
        <TimeAgo at={fact.last_confirmed_at} />
      </Detail>
      <Detail name="Used">
        {plural(fact.reference_count, "time")}
        {fact.reference_count > 0 && (
          <>
            , last <TimeAgo at={fact.last_referenced_at} />
          </>
        )}
      </Detail>
      <Detail name="Id">
        <code className="font-mono text-xs break-all text-ink-2">{fact.id}</code>
      </Detail>
    </Details>
  );
}

function ValidTime({ fact }: { fact: Schemas["Fact"] }): ReactNode {
  return (
    <>
      since <TimeAgo at={fact.valid_from} />
      {fact.valid_until && (
        <>
          , until <TimeAgo at={fact.valid_until} />
        </>
      )}
    </>
  );
}

function EntityOf({ id }: { id: string }) {
  const { data } = useQuery(entityDetail(id));
  return (
    <>
      , registered as{" "}
      <MemoryLink kind="entity" id={id}>
        {data?.entity.canonical_name ?? "…"}
      </MemoryLink>
    </>
  );
}
