import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, Pencil, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { accept, confirm, forget, restore } from "@/memory/changes";
import { DecayChart } from "@/memory/DecayChart";
import { EraseButton } from "@/memory/EraseButton";
import { History } from "@/memory/History";
import { LongText } from "@/memory/LongText";
import { ProvenanceGraph } from "@/memory/ProvenanceGraph";
import { FactDetails } from "@/pages/facts/FactDetails";
import { FactForm } from "@/pages/facts/FactForm";
import { factDetail } from "@/pages/facts/queries";
import { useChange } from "@/shell/change";
import type { MemoryDrawerProps } from "@/shell/Drawers";
import { FactState } from "@/shell/FactState";
import { GoneNote, isGone } from "@/shell/GoneNote";
import { MemoryLink } from "@/shell/MemoryLink";
import { usePast, usePastDays } from "@/shell/past";
import { PastNote } from "@/shell/PastNote";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { words } from "@/ui/format";
import { Section } from "@/ui/Section";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";

type FactDetail = Schemas["FactDetail"];

/** A fact, why it is known and how sure that is, and all that a person can do about it. */
export default function FactDrawer({ id, onClose }: MemoryDrawerProps) {
  const { data, error } = useQuery(factDetail(id, usePast()));
  // As it was when editing began: what others do meanwhile must not change what one is editing.
  const [edited, setEdited] = useState<FactDetail>();
  const navigate = useNavigate();
  return (
    <Drawer
      kicker={data ? `Fact · ${data.fact.subject} · ${words(data.fact.predicate)}` : "Fact"}
      title={data?.fact.content ?? "…"}
      onClose={onClose}
    >
      {!data ? (
        <SkeletonRows rows={6} />
      ) : edited ? (
        <FactForm
          fact={edited.fact}
          revision={edited.revision}
          onDone={(keep) => {
            setEdited(undefined);
            if (keep && keep.id !== id)
              void navigate({
                to: ".",
                search: (now) => ({ ...now, open: `fact:${keep.id}` as const }),
                resetScroll: false,
                ignoreBlocker: true,
              });
          }}
        />
      ) : (
        <Look detail={data} error={error} onEdit={() => setEdited(data)} onGone={onClose} />
      )}
    </Drawer>
  );
}

interface LookProps {
  detail: FactDetail;
  /** Of the latest look at it. */
  error: Error | null;
  onEdit: () => void;
  onGone: () => void;
}

function Look({ detail, error, onEdit, onGone }: LookProps) {
  const { fact, decay, provenance } = detail;
  const isPast = usePastDays() !== undefined;
  return (
    <>
      <PastNote />
      <GoneNote error={error} />
      {!isPast && <Actions fact={fact} isThere={!isGone(error)} onEdit={onEdit} onGone={onGone} />}
      <Standing detail={detail} />
      <LongText text={fact.content} />
      <Section title="Confidence" aside={<FactState state={fact.lifecycle_state} />}>
        <DecayChart decay={decay} isCurrent={fact.validity === "active"} />
      </Section>
      <Section title="Why it is known">
        <ProvenanceGraph graph={provenance} id={fact.id} />
      </Section>
      <Section title="Details">
        <FactDetails fact={fact} />
      </Section>
      <Section title="History">
        <History kind="fact" id={fact.id} />
      </Section>
    </>
  );
}

interface ActionsProps {
  fact: Schemas["Fact"];
  isThere: boolean;
  onEdit: () => void;
  onGone: () => void;
}

function Actions({ fact, isThere, onEdit, onGone }: ActionsProps) {
  const change = useChange();
  const busy = change.isPending;
  return (
    <div className="mb-5 flex flex-wrap gap-2">
      {isThere && fact.validity === "active" && (
        <>
          <Button
            kind="primary"
            busy={busy}
            onClick={() => change.mutate(confirm("fact", fact.id))}
          >
            <Check /> Confirm
          </Button>
          <Button disabled={busy} onClick={onEdit}>
            <Pencil /> Edit
          </Button>
        </>
      )}
      {isThere && fact.validity === "waiting" && (
        <Button kind="primary" busy={busy} onClick={() => change.mutate(accept(fact.id))}>
          <Check /> Accept
        </Button>
      )}
      {!isThere ? null : fact.validity === "retracted" ? (
        <Button kind="primary" busy={busy} onClick={() => change.mutate(restore("fact", fact.id))}>
          <RotateCcw /> Restore
        </Button>
      ) : (
        <Button kind="danger" busy={busy} onClick={() => change.mutate(forget("fact", fact.id))}>
          <Trash2 /> Forget
        </Button>
      )}
      <EraseButton target={{ kind: "fact", id: fact.id }} onGone={onGone} />
    </div>
  );
}

/** What became of a fact that is not simply true. */
function Standing({ detail: { fact, superseded_by, decay } }: { detail: FactDetail }) {
  const said = () => {
    switch (fact.lifecycle_state) {
      case "active":
        return null;
      case "fading":
        return (
          <>
            It is fading: agents no longer get it, and it expires <TimeAgo at={decay.expires_at} />.
            Confirm it if it still holds.
          </>
        );
      case "waiting":
        return (
          <>
            Its evidence is in doubt, so no agent gets it. Accept it if it holds: it then takes the
            place of what it contradicts. Forget it if it does not.
          </>
        );
      case "superseded":
        return (
          <>
            It was replaced <TimeAgo at={fact.retired_at ?? fact.valid_until} />
            {superseded_by && (
              <>
                :{" "}
                <MemoryLink kind="fact" id={superseded_by}>
                  see what holds now
                </MemoryLink>
              </>
            )}
            .
          </>
        );
      case "expired":
        return (
          <>
            It expired <TimeAgo at={fact.retired_at} />: nobody confirmed it in time.
          </>
        );
      case "retracted":
        return (
          <>
            It was forgotten <TimeAgo at={fact.retired_at} />. It can be restored.
          </>
        );
    }
  };
  const text = said();
  return (
    text && <p className="mb-5 rounded-lg bg-sunken px-3.5 py-2.5 text-sm text-ink-2">{text}</p>
  );
}
