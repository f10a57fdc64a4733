import { Route } from "lucide-react";
import { useEffect, useId, useMemo, useState } from "react";
import { type Connections, type Step } from "@/pages/map/connections";
import type { Mapped, MapNode } from "@/pages/map/queries";
import { MemoryLink } from "@/shell/MemoryLink";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { Field, Input } from "@/ui/Field";
import { plural } from "@/ui/format";

export interface Ends {
  from?: string | undefined;
  to?: string | undefined;
}

interface PathFormProps {
  map: Mapped;
  connections: Connections;
  ends: Ends;
  /** From the first to the last, where there is a way. */
  path: readonly Step[];
  onChange: (ends: Ends) => void;
}

/** What one entity is connected with, and the way to another, in words. */
export function PathForm({ map, connections, ends, path, onChange }: PathFormProps) {
  const names = useId();
  const [isChoosing, setChoosing] = useState(false);
  const labels = useMemo(() => labelled(map.nodes), [map]);
  const from = map.nodes.find((one) => one.id === ends.from);
  const to = map.nodes.find((one) => one.id === ends.to);
  return (
    <Card
      title="Connections"
      note="What one entity is connected with, and the way to another."
      aside={
        (ends.from ?? ends.to) && (
          <Button small kind="quiet" onClick={() => onChange({ from: undefined, to: undefined })}>
            Clear
          </Button>
        )
      }
    >
      {/* Thousands of options are costly: only while one chooses. */}
      <datalist id={names}>
        {isChoosing && [...labels].map(([id, label]) => <option key={id} value={label} />)}
      </datalist>
      <div
        className="grid grid-cols-2 gap-3"
        onFocus={() => setChoosing(true)}
        onBlur={() => setChoosing(false)}
      >
        <End
          label="From"
          list={names}
          labels={labels}
          chosen={ends.from}
          onChange={(id) => onChange({ ...ends, from: id })}
        />
        <End
          label="To"
          list={names}
          labels={labels}
          chosen={ends.to}
          onChange={(id) => onChange({ ...ends, to: id })}
        />
      </div>
      <div className="mt-3 max-h-64 overflow-y-auto text-sm" role="status" tabIndex={0}>
        {from && to ? (
          <Way from={from} to={to} path={path} />
        ) : from || to ? (
          <Around one={(from ?? to)!} connections={connections} />
        ) : (
          <p className="text-ink-3">Choose one or two of the names on the map.</p>
        )}
      </div>
    </Card>
  );
}

interface EndProps {
  label: string;
  list: string;
  labels: ReadonlyMap<string, string>;
  chosen: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** A name that one types or picks; what is no name chooses nobody. */
function End({ label, list, labels, chosen, onChange }: EndProps) {
  const name = chosen === undefined ? "" : (labels.get(chosen) ?? "");
  const [typed, setTyped] = useState(name);
  // Chosen elsewhere: Back was pressed, or both were cleared.
  useEffect(() => setTyped(name), [name]);
  const type = (value: string) => {
    setTyped(value);
    const wanted = value.trim().toLowerCase();
    const found = [...labels].find(([, one]) => one.toLowerCase() === wanted)?.[0];
    if (found !== chosen && (found || !wanted)) onChange(found);
  };
  const isUnknown = typed.trim() !== "" && typed !== name;
  return (
    <Field label={label} hint={isUnknown ? "Unknown name. Choose one from the list." : undefined}>
      <Input
        list={list}
        value={typed}
        placeholder="A name"
        autoComplete="off"
        onChange={(event) => type(event.target.value)}
        className="w-full"
      />
    </Field>
  );
}

function Way({ from, to, path }: { from: MapNode; to: MapNode; path: readonly Step[] }) {
  if (from.id === to.id) return <p className="text-ink-2">Both are the same.</p>;
  if (path.length === 0)
    return (
      <p className="text-ink-2">
        No fact on this map leads from <Name node={from} /> to <Name node={to} />.
      </p>
    );
  return (
    <p className="flex gap-2 leading-6">
      <Route className="mt-1 size-4 shrink-0 text-accent-ink" aria-hidden />
      <span className="memory-text">
        <Name node={from} />
        {path.map((step, index) => (
          <span key={step.node.id}>
            {index > 0 && `, ${path[index - 1]!.node.entity_type === "person" ? "who" : "which"}`}
            {" shares "}
            <Said step={step} /> with <Name node={step.node} />
          </span>
        ))}
        .
      </span>
    </p>
  );
}

function Around({ one, connections }: { one: MapNode; connections: Connections }) {
  const steps = connections.get(one.id) ?? [];
  if (steps.length === 0)
    return (
      <p className="text-ink-2">
        No fact connects <Name node={one} /> with anybody else.
      </p>
    );
  return (
    <>
      <p className="text-ink-2">
        <Name node={one} /> is connected with {plural(steps.length, "other")}:
      </p>
      <ul aria-label="Connections" className="mt-2 space-y-1.5">
        {steps.map((step) => (
          <li key={step.node.id} className="memory-text">
            <Name node={step.node} />: <Said step={step} />
            {step.edge.facts > 1 && ` and ${plural(step.edge.facts - 1, "more fact")}`}
          </li>
        ))}
      </ul>
    </>
  );
}

function Name({ node }: { node: MapNode }) {
  return (
    <MemoryLink kind="entity" id={node.id}>
      {node.name}
    </MemoryLink>
  );
}

function Said({ step: { edge } }: { step: Step }) {
  return (
    <MemoryLink kind="fact" id={edge.fact_id} className="underline decoration-line-strong">
      “{edge.content}”
    </MemoryLink>
  );
}

/** What each is called where one chooses: by its name, and its type where several have it. */
function labelled(nodes: readonly MapNode[]): ReadonlyMap<string, string> {
  const seen = new Map<string, number>();
  for (const { name } of nodes) seen.set(name, (seen.get(name) ?? 0) + 1);
  return new Map(
    nodes.map((one) => [
      one.id,
      seen.get(one.name) === 1 ? one.name : `${one.name} (${one.entity_type})`,
    ]),
  );
}
