import { useQuery } from "@tanstack/react-query";
import { ArrowLeftRight, ArrowRight } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { merge } from "@/pages/entities/changes";
import { EntityIcon } from "@/pages/entities/columns";
import { mergePreview, others, type Entity } from "@/pages/entities/queries";
import { useChange } from "@/shell/change";
import { Button, IconButton } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { SearchBox } from "@/ui/Field";
import { plural, words } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

interface MergeDialogProps {
  entity: Entity;
  onClose: () => void;
}

/** Makes two entities one, after a look at what that would do. */
export function MergeDialog({ entity, onClose }: MergeDialogProps) {
  const [other, setOther] = useState<Entity>();
  const [isTurned, setTurned] = useState(false);
  const change = useChange();
  const [source, target] = isTurned ? [other, entity] : [entity, other];
  const { preview, isStale, lookAgain } = usePreview(source, target, change.isPending);
  return (
    <Dialog
      onClose={onClose}
      busy={change.isPending}
      title={`Merge ${entity.canonical_name}`}
      actions={
        <>
          <Button disabled={change.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button
            kind="primary"
            disabled={!preview || isStale}
            busy={change.isPending}
            onClick={() =>
              source &&
              target &&
              preview &&
              change.mutate(merge(source, target, preview.revision), onClose)
            }
          >
            Merge
          </Button>
        </>
      }
    >
      {source && target ? (
        <>
          <div className="mb-4 flex items-center gap-2">
            <Side entity={source} role="goes" />
            <ArrowRight className="size-4 shrink-0 text-ink-3" aria-hidden />
            <Side entity={target} role="stays" />
            <IconButton
              label="Turn it around: the other one stays"
              onClick={() => setTurned((now) => !now)}
            >
              <ArrowLeftRight />
            </IconButton>
          </div>
          {isStale && <Stale onLookAgain={lookAgain} />}
          <Preview preview={preview} target={target} />
          <p className="mt-4 text-sm text-ink-2">
            This can be undone until something that moved is changed.
          </p>
          <Button small kind="quiet" className="mt-3" onClick={() => setOther(undefined)}>
            Choose another one
          </Button>
        </>
      ) : (
        <Choice entity={entity} onChoose={setOther} />
      )}
    </Dialog>
  );
}

/**
 * What a merge would do, as one has read it: it stays as it was when somebody changes one of the two
 * meanwhile, and `isStale` says so.
 */
function usePreview(source: Entity | undefined, target: Entity | undefined, isMerging: boolean) {
  const asked = mergePreview(source?.id, target?.id);
  // What is merged has no preview any more.
  const { data: latest } = useQuery({ ...asked, enabled: asked.enabled === true && !isMerging });
  const [read, setRead] = useState<{ pair: string; preview: Schemas["PreviewOutput"] }>();
  const pair = `${source?.id} ${target?.id}`;
  const preview = read?.pair === pair ? read.preview : undefined;
  const look = () => latest && setRead({ pair, preview: latest });
  if (!preview) look();
  const isStale = Boolean(preview && latest && latest.revision !== preview.revision);
  return { preview, isStale, lookAgain: look };
}

function Stale({ onLookAgain }: { onLookAgain: () => void }) {
  return (
    <div
      role="alert"
      className="mb-4 flex items-center gap-3 rounded-lg border border-warn bg-warn-soft p-3 text-sm text-warn-ink"
    >
      <p className="flex-1">
        Somebody changed one of the two while you were looking. Nothing is merged; what you see
        below no longer holds.
      </p>
      <Button small onClick={onLookAgain}>
        Look again
      </Button>
    </div>
  );
}

function Side({ entity, role }: { entity: Entity; role: "goes" | "stays" }) {
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2.5 rounded-lg border px-3 py-2">
      <span className="max-sm:hidden">
        <EntityIcon type={entity.entity_type} />
      </span>
      <div className="min-w-0">
        <p className="text-xs text-ink-3">{role}</p>
        <p className="memory-text line-clamp-2 font-medium">{entity.canonical_name}</p>
      </div>
    </div>
  );
}

interface ChoiceProps {
  entity: Entity;
  onChoose: (other: Entity) => void;
}

function Choice({ entity, onChoose }: ChoiceProps) {
  const [q, setQ] = useState("");
  const { data: found } = useQuery(others(entity, q));
  return (
    <>
      <p className="mb-3 text-ink-2">Which one is the same as {entity.canonical_name}?</p>
      <SearchBox label="Other entity" placeholder="Part of its name" value={q} onChange={setQ} />
      {!found ? (
        <SkeletonRows rows={4} className="h-11" />
      ) : found.length === 0 ? (
        <p className="mt-4 text-sm text-ink-3">There is no other of that name.</p>
      ) : (
        <ul className="mt-3 divide-y rounded-lg border">
          {found.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                onClick={() => onChoose(one)}
                className="flex w-full items-center gap-3 px-3 py-2 text-left -outline-offset-2 hover:bg-sunken"
              >
                <EntityIcon type={one.entity_type} />
                <span className="memory-text line-clamp-1 flex-1 font-medium">
                  {one.canonical_name}
                </span>
                <span className="text-xs text-ink-3">{plural(one.facts, "fact")}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface PreviewProps {
  preview: Schemas["PreviewOutput"] | undefined;
  target: Entity;
}

function Preview({ preview: data, target }: PreviewProps) {
  if (!data) return <SkeletonRows rows={4} />;
  // Those that give way move as well, and are shown beside what they give way to.
  const conflicting = new Set(
    data.conflicts
      .flatMap(({ stays, goes }) => [stays.id, goes.id])
      .concat(data.beside.map(({ id }) => id)),
  );
  const moving = data.moving.filter((one) => !conflicting.has(one.id));
  return (
    <div className="space-y-4 text-sm">
      <p>
        {plural(data.facts_repointed, "fact")} {data.facts_repointed === 1 ? "moves" : "move"} to{" "}
        <b className="font-semibold">{target.canonical_name}</b>
        {data.facts_superseded > 0 && (
          <>, {plural(data.facts_superseded, "conflicting fact")} will be archived</>
        )}
        {data.aliases_added > 0 && (
          <>, and it answers to {plural(data.aliases_added, "more name", "more names")}</>
        )}
        .
      </p>
      {moving.length > 0 && (
        <Part title="Moving">
          {moving.map((one) => (
            <Fact key={one.id} fact={one} />
          ))}
        </Part>
      )}
      {data.conflicts.length > 0 && (
        <Part title="Both say something: the more certain one stays">
          {data.conflicts.map(({ stays, goes }) => (
            <li key={goes.id} className="px-3 py-2">
              <p className="text-xs text-ink-3">{words(stays.predicate)}</p>
              <p className="memory-text">{stays.content}</p>
              <p className="memory-text text-ink-3 line-through">{goes.content}</p>
            </li>
          ))}
        </Part>
      )}
      {data.beside.length > 0 && (
        <Part title="Both say something, and both hold">
          {data.beside.map((one) => (
            <Fact key={one.id} fact={one} />
          ))}
        </Part>
      )}
      <p className="text-ink-2">
        Other names afterwards: {data.aliases.length > 0 ? data.aliases.join(", ") : "none"}
      </p>
    </div>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <h3 className="mb-1.5 text-xs font-medium text-ink-3">{title}</h3>
      <ul className="max-h-52 divide-y overflow-y-auto rounded-lg border">{children}</ul>
    </div>
  );
}

function Fact({ fact }: { fact: Schemas["Fact"] }) {
  return (
    <li className="px-3 py-2">
      <p className="text-xs text-ink-3">
        {words(fact.predicate)}
        {fact.validity !== "active" && `, ${fact.validity}`}
      </p>
      <p className="memory-text">{fact.content}</p>
    </li>
  );
}
