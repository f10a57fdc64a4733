import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { answer, api, type Schemas } from "@/api/client";
import type { OpenedKind } from "@/shell/opened";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Input } from "@/ui/Field";
import { count, plural } from "@/ui/format";
import { SkeletonRows } from "@/ui/Skeleton";

type Outcome = Schemas["EraseOutput"];

export interface Erased {
  kind: OpenedKind;
  id: string;
}

interface EraseDialogProps {
  target: Erased;
  onClose: () => void;
  onGone: () => void;
}

// Typed before it is done: there is no undo, and a click is made too soon.
const WORD = "erase";

/** What a person has a right to have forgotten: looked at, agreed to by a word, certified. */
export default function EraseDialog({ target, onClose, onGone }: EraseDialogProps) {
  const [withSources, setWithSources] = useState(false);
  const [withMentions, setWithMentions] = useState(false);
  const wanted = body(target, withSources, withMentions);
  const [typed, setTyped] = useState("");
  const queries = useQueryClient();
  const erasing = useMutation({
    mutationFn: () => answer(api.POST("/api/memory/erase", { body: wanted })),
    // Told here, where one pressed.
    onError: () => undefined,
  });
  const preview = useQuery({
    queryKey: ["erase", wanted],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/erase", {
          signal,
          body: { ...wanted, preview: true },
        }),
      ),
    enabled: !erasing.isSuccess && !erasing.isPending,
    throwOnError: false,
  });
  const leave = () => {
    onClose();
    if (!erasing.isSuccess) return;
    onGone();
    void queries.invalidateQueries();
  };
  const refused = erasing.error ?? preview.error;
  return (
    <Dialog
      onClose={leave}
      busy={erasing.isPending}
      title={erasing.isSuccess ? "Erased for good" : `Erase this ${target.kind} for good`}
      actions={
        erasing.isSuccess ? (
          <Button kind="primary" onClick={leave}>
            Done
          </Button>
        ) : (
          <>
            <Button disabled={erasing.isPending} onClick={leave}>
              Cancel
            </Button>
            <Button
              kind="danger"
              disabled={!preview.data || typed.trim().toLowerCase() !== WORD}
              busy={erasing.isPending}
              onClick={() => erasing.mutate()}
            >
              Erase for good
            </Button>
          </>
        )
      }
    >
      {erasing.data ? (
        <Certified outcome={erasing.data} />
      ) : (
        <div className="space-y-4">
          <p className="text-ink-2">
            Nothing brings it back, unlike forgetting. With it goes what was drawn from it alone,
            every former state, what the log says of it, and the bytes in the files.
          </p>
          {refused && (
            <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad-ink">
              {refused.message}
            </p>
          )}
          {preview.data ? <Going found={preview.data} /> : !refused && <SkeletonRows rows={3} />}
          {(target.kind === "fact" || target.kind === "rule" || target.kind === "entity") && (
            <Also checked={withSources} onChange={setWithSources}>
              Also the episodes that it was drawn from
            </Also>
          )}
          {target.kind === "entity" && (
            <Also checked={withMentions} onChange={setWithMentions}>
              Also what else has its name in the text
            </Also>
          )}
          <Field label={`Type “${WORD}” to go on`}>
            <Input
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
        </div>
      )}
    </Dialog>
  );
}

interface AlsoProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: string;
}

function Also({ checked, onChange, children }: AlsoProps) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        className="accent-accent"
      />
      {children}
    </label>
  );
}

/** The one target of the API's input. */
function body({ kind, id }: Erased, sources: boolean, mentions: boolean): Schemas["EraseInput"] {
  const of = { everything: false, preview: false, sources, mentions };
  switch (kind) {
    case "entity":
      return { ...of, entity_id: id };
    case "session":
      return { ...of, session_id: id };
    default:
      return { ...of, memory_type: kind, memory_id: id };
  }
}

function Going({ found }: { found: Outcome }) {
  const parts = [
    ["Episodes", found.episodes],
    ["Facts", found.facts],
    ["Rules", found.rules],
    ["Entities", found.entities],
  ] as const;
  return (
    <div className="space-y-3 text-sm">
      <dl
        aria-label="What goes"
        className="grid grid-cols-4 gap-2 rounded-lg border px-3 py-2.5 text-center"
      >
        {parts.map(([name, ids]) => (
          <div key={name} className="flex flex-col-reverse">
            <dt className="text-xs text-ink-3">{name}</dt>
            <dd className="text-lg font-semibold">{count(ids.length)}</dd>
          </div>
        ))}
      </dl>
      <Labelled ids={parts.flatMap(([, ids]) => ids)} labels={found.labels ?? {}} />
      {found.journals.length > 0 && <p>The journals {found.journals.join(", ")} go as a whole.</p>}
      {found.kept.length > 0 && (
        <div>
          <p className="text-ink-2">
            Not erased, and may say the same: {plural(found.kept.length, "memory", "memories")}
          </p>
          <ul className="mt-1.5 max-h-40 divide-y overflow-y-auto rounded-lg border">
            {found.kept.map((one) => (
              <li key={one.id} className="px-3 py-2">
                <p className="line-clamp-2">{found.labels?.[one.id] ?? one.id}</p>
                <p className="text-xs text-ink-3">
                  {one.kind}: {one.why}
                </p>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** What goes, by what it says: nobody knows a memory by its id. */
function Labelled({ ids, labels }: { ids: string[]; labels: Record<string, string> }) {
  const shown = ids.filter((id) => labels[id]);
  if (shown.length === 0) return null;
  return (
    <ul
      aria-label="What it says"
      tabIndex={0}
      className="max-h-40 divide-y overflow-y-auto rounded-lg border"
    >
      {shown.map((id) => (
        <li key={id} className="line-clamp-2 px-3 py-1.5">
          {labels[id]}
        </li>
      ))}
    </ul>
  );
}

interface Probe {
  path: string;
  asked: number;
  found: number;
}

function Certified({ outcome }: { outcome: Outcome }) {
  const said = outcome.certificate as { id: string; probes: readonly Probe[] } | null;
  if (!said) return null;
  return (
    <div className="space-y-4 text-sm">
      <p className="text-ink-2">
        It was then asked for on every path that finds memories, and the answers are in a signed
        certificate. Keep it elsewhere: it names no word of what was erased.
      </p>
      <ul aria-label="Probes" className="divide-y rounded-lg border">
        {said.probes.map((one) => (
          <li key={one.path} className="flex justify-between gap-3 px-3 py-1.5">
            <span>by {one.path}</span>
            <span className="text-ink-2">
              asked {count(one.asked)}, found {count(one.found)}
            </span>
          </li>
        ))}
      </ul>
      <Button onClick={() => save(`erasure-${said.id}.json`, outcome.certificate_text ?? "")}>
        <Download /> Download the certificate
      </Button>
      <p className="text-ink-3">
        Check it anywhere with{" "}
        <code className="font-mono text-xs">memory-butler verify erasure.json</code>; the server
        keeps it as <code className="font-mono text-xs break-all">{outcome.file}</code>.
      </p>
    </div>
  );
}

/** To the letter: the signature is of these very numbers, which JavaScript would write otherwise. */
function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
