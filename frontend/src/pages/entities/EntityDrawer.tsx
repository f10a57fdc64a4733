import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Merge, Pencil, Undo2 } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { entityDetail } from "@/memory/entities";
import { EraseButton } from "@/memory/EraseButton";
import { TagList } from "@/memory/TagList";
import { unmerge } from "@/pages/entities/changes";
import { EntityForm } from "@/pages/entities/EntityForm";
import { MergeDialog } from "@/pages/entities/MergeDialog";
import { useChange } from "@/shell/change";
import type { MemoryDrawerProps } from "@/shell/Drawers";
import { FactState } from "@/shell/FactState";
import { MemoryLink } from "@/shell/MemoryLink";
import { GoneNote } from "@/shell/GoneNote";
import { keptPast, usePast, usePastDays } from "@/shell/past";
import { PastNote } from "@/shell/PastNote";
import { ConfidenceBar } from "@/ui/Bars";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { plural, words } from "@/ui/format";
import { Detail, Details, Section } from "@/ui/Section";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type EntityDetail = Schemas["EntityDetail"];

/** An entity: its names, and the facts about it. */
export default function EntityDrawer({ id, onClose }: MemoryDrawerProps) {
  const { data, error } = useQuery(entityDetail(id, usePast()));
  // As it was when editing began, so that what others changed meanwhile is not put back.
  const [edited, setEdited] = useState<EntityDetail["entity"]>();
  const [isMerged, setMerged] = useState(false);
  return (
    <Drawer
      kicker={data ? `Entity · ${data.entity.entity_type}` : "Entity"}
      title={data?.entity.canonical_name ?? "…"}
      onClose={onClose}
    >
      {!data ? (
        <SkeletonRows rows={6} />
      ) : edited ? (
        <EntityForm entity={edited} onDone={() => setEdited(undefined)} />
      ) : (
        <>
          <GoneNote error={error} />
          <Look
            detail={data}
            onEdit={() => setEdited(data.entity)}
            onMerge={() => setMerged(true)}
            onGone={onClose}
          />
          {isMerged && <MergeDialog entity={data.entity} onClose={() => setMerged(false)} />}
        </>
      )}
    </Drawer>
  );
}

interface LookProps {
  detail: EntityDetail;
  onEdit: () => void;
  onMerge: () => void;
  onGone: () => void;
}

function Look({ detail, onEdit, onMerge, onGone }: LookProps) {
  const { entity, facts, facts_total } = detail;
  const isPast = usePastDays() !== undefined;
  const mergedInto = entity.metadata?.["merged_into"];
  return (
    <>
      <PastNote />
      {typeof mergedInto === "string" ? (
        <Merged entity={entity} into={mergedInto} />
      ) : isPast ? null : (
        <div className="mb-5 flex flex-wrap gap-2">
          <Button onClick={onEdit}>
            <Pencil /> Edit
          </Button>
          <Button onClick={onMerge}>
            <Merge /> Merge…
          </Button>
          <EraseButton target={{ kind: "entity", id: entity.id }} onGone={onGone} />
        </div>
      )}
      <Section title="Details">
        <Details>
          <Detail name="Other names">
            <TagList tags={entity.aliases} />
          </Detail>
          <Detail name="Type">{entity.entity_type}</Detail>
          <Detail name="Registered">
            <TimeAgo at={entity.created_at} />
          </Detail>
          <Detail name="Changed">
            <TimeAgo at={entity.updated_at} />
          </Detail>
          <Detail name="Id">
            <code className="font-mono text-xs break-all text-ink-2">{entity.id}</code>
          </Detail>
        </Details>
      </Section>
      <Section
        title="What is known"
        aside={facts_total > 0 && <All entity={entity} total={facts_total} />}
      >
        {facts.length === 0 ? (
          <p className="text-sm text-ink-3">
            No fact that holds is about it. Agents pass its id as entity_id when they store one.
          </p>
        ) : (
          <ul className="-my-2 divide-y">
            {facts.map((one) => (
              <FactLine key={one.id} fact={one} />
            ))}
          </ul>
        )}
        {facts_total > facts.length && (
          <p className="mt-3 text-sm text-ink-3">These are the newest {facts.length}.</p>
        )}
      </Section>
    </>
  );
}

/** The way to all of its facts, to be searched, ordered and chosen from. */
function All({ entity, total }: { entity: EntityDetail["entity"]; total: number }) {
  return (
    <Link
      to="/memory/facts"
      search={(now) => ({ ...keptPast(now), entity: entity.id })}
      className="text-xs font-medium text-accent-ink hover:underline"
    >
      {plural(total, "fact")} in the list
    </Link>
  );
}

/** What became of an entity that was merged away, and the way back. */
function Merged({ entity, into }: { entity: EntityDetail["entity"]; into: string }) {
  const change = useChange();
  const isPast = usePastDays() !== undefined;
  return (
    <div className="mb-5 flex flex-wrap items-center justify-between gap-3 rounded-lg bg-sunken px-3.5 py-2.5">
      <p className="text-sm text-ink-2">
        It was merged into another:{" "}
        <MemoryLink kind="entity" id={into}>
          see what it became
        </MemoryLink>
        .
      </p>
      {!isPast && (
        <Button small busy={change.isPending} onClick={() => change.mutate(unmerge(entity))}>
          <Undo2 /> Undo the merge
        </Button>
      )}
    </div>
  );
}

function FactLine({ fact }: { fact: Schemas["Fact"] }) {
  return (
    <li className="flex items-center gap-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2 text-xs text-ink-3">
          {words(fact.predicate)} <FactState state={fact.lifecycle_state} />
        </p>
        <MemoryLink kind="fact" id={fact.id} className="memory-text line-clamp-2 hover:underline">
          {fact.content}
        </MemoryLink>
      </div>
      <ConfidenceBar effective={fact.effective_confidence} base={fact.confidence} />
    </li>
  );
}
