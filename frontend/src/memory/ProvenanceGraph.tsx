import clsx from "clsx";
import { useId, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { layout, type Arrow, type Node, type Relation } from "@/memory/graph";
import { MemoryLink } from "@/shell/MemoryLink";
import { Button } from "@/ui/Button";
import { plural, words } from "@/ui/format";

interface ProvenanceGraphProps {
  graph: Schemas["Provenance"];
  /** The memory that it is about. */
  id: string;
}

// Of each column, before one asks for the others.
const SHOWN = 6;

/** Why a memory is known, drawn: what it came from, what it replaced, what rests on it (DASH-04). */
export function ProvenanceGraph({ graph, id }: ProvenanceGraphProps) {
  const [all, setAll] = useState(false);
  const { sources, versions, results, arrows } = layout(graph, id);
  const kind = graph.nodes.find((one) => one.id === id)?.memory_type ?? "fact";
  const hidden = [sources, results].reduce((sum, one) => sum + Math.max(0, one.length - SHOWN), 0);
  const some = (nodes: Node[]) => (all ? nodes : nodes.slice(-SHOWN));
  return (
    <div className="@container">
      <Drawn arrows={arrows} columns={1 + Number(sources.length > 0) + Number(results.length > 0)}>
        {sources.length > 0 && (
          <Column title="Came from">
            {some(sources).map((one) => (
              <NodeBox key={one.id} node={one} />
            ))}
          </Column>
        )}
        <Column title={versions.length > 1 ? "Its versions" : `This ${kind}`}>
          {versions.map((one) => (
            <NodeBox key={one.id} node={one} isSubject={one.id === id} />
          ))}
        </Column>
        {results.length > 0 && (
          <Column title="Led to">
            {some(results).map((one) => (
              <NodeBox key={one.id} node={one} note={relationTo(one.id, arrows)} />
            ))}
          </Column>
        )}
      </Drawn>
      {hidden > 0 && (
        <Button small kind="quiet" className="mt-3" onClick={() => setAll((now) => !now)}>
          {all ? "Show fewer" : `Show ${plural(hidden, "older one")}`}
        </Button>
      )}
      {!graph.complete && (
        <p className="mt-3 text-sm text-ink-3">There are more links than are drawn here.</p>
      )}
      {sources.length === 0 && (
        <p className="mt-3 text-sm text-ink-3">
          No episode is linked: it was told directly, by an agent or a person.
        </p>
      )}
    </div>
  );
}

function relationTo(id: string, arrows: readonly Arrow[]): Relation | undefined {
  return arrows.find((one) => one.to === id)?.relation;
}

function Column({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <h4 className="mb-2 text-xs font-medium text-ink-3 @md:text-center">{title}</h4>
      <ol className="flex flex-col gap-5">{children}</ol>
    </div>
  );
}

interface NodeBoxProps {
  node: Node;
  isSubject?: boolean;
  note?: Relation | undefined;
}

function NodeBox({ node, isSubject = false, note }: NodeBoxProps) {
  const isGone = node.label === null;
  const isPast = ["superseded", "expired", "retracted", "forgotten"].includes(node.state);
  const box = clsx(
    "block rounded-lg border px-3 py-2 text-left",
    isSubject ? "border-accent bg-accent-soft" : "bg-surface",
    isGone ? "border-dashed" : !isSubject && "shadow-card hover:border-line-strong hover:bg-sunken",
  );
  const content = (
    <>
      <span className="block text-xs text-ink-3">
        {note && note !== "derived_from" ? `${words(note)} · ` : ""}
        {node.memory_type} · {stateSaid(node)}
      </span>
      <span
        className={clsx(
          "memory-text mt-0.5 line-clamp-3 text-sm",
          isPast && "text-ink-3",
          isPast && node.memory_type !== "episode" && "line-through",
        )}
      >
        {node.label ?? `The ${node.memory_type} has expired; only its trace is left.`}
      </span>
    </>
  );
  return (
    <li data-node={node.id}>
      {isGone || isSubject ? (
        <div className={box} aria-current={isSubject || undefined}>
          {content}
        </div>
      ) : (
        <MemoryLink kind={node.memory_type} id={node.id} className={box}>
          {content}
        </MemoryLink>
      )}
    </li>
  );
}

function stateSaid({ state }: Node): string {
  switch (state) {
    case "gone":
      return "expired";
    case "active":
      return "current";
    case "retracted":
      return "forgotten";
    default:
      return words(state);
  }
}

interface Line {
  key: string;
  path: string;
  relation: Relation;
}

/** The boxes, and the arrows between wherever the boxes came to stand. */
function Drawn({
  arrows,
  columns,
  children,
}: {
  arrows: readonly Arrow[];
  columns: number;
  children: ReactNode;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [lines, setLines] = useState<Line[]>([]);
  const head = useId();
  const drawn = JSON.stringify(arrows);
  useLayoutEffect(() => {
    const node = frame.current;
    if (!node) return;
    const draw = () => setLines(linesOf(node, JSON.parse(drawn) as Arrow[]));
    const watcher = new ResizeObserver(draw);
    watcher.observe(node);
    return () => watcher.disconnect();
  }, [drawn]);
  return (
    <div
      ref={frame}
      className={clsx(
        "relative grid items-center gap-x-10 gap-y-5 @max-md:pl-5",
        columns === 3 && "@md:grid-cols-[minmax(0,1fr)_minmax(0,1.15fr)_minmax(0,1fr)]",
        columns === 2 && "@md:grid-cols-2",
      )}
    >
      <svg
        aria-hidden
        className="pointer-events-none absolute inset-0 size-full overflow-visible stroke-ink-3"
      >
        <defs>
          <marker
            id={head}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M1 1 7 4 1 7" fill="none" strokeWidth="1.5" />
          </marker>
        </defs>
        {lines.map((one) => (
          <path
            key={one.key}
            d={one.path}
            fill="none"
            strokeWidth={1.25}
            strokeDasharray={one.relation === "related_to" ? "3 4" : undefined}
            className={one.relation === "contradicts" ? "stroke-bad" : undefined}
            markerEnd={one.relation === "related_to" ? undefined : `url(#${head})`}
          />
        ))}
      </svg>
      {children}
    </div>
  );
}

function linesOf(frame: HTMLElement, arrows: readonly Arrow[]): Line[] {
  const origin = frame.getBoundingClientRect();
  const boxes = new Map(
    Array.from(frame.querySelectorAll<HTMLElement>("[data-node]"), (one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return [
        one.dataset["node"]!,
        new DOMRect(left - origin.left, top - origin.top, width, height),
      ] as const;
    }),
  );
  return arrows.flatMap(({ from, to, relation }) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (!a || !b) return [];
    return [{ key: `${from} ${to}`, path: pathBetween(a, b, [...boxes.values()]), relation }];
  });
}

// How far an arrow that passes other boxes of its column swings out.
const SWING = 18;

/** Across between columns, straight down to a neighbour, around those that stand between. */
function pathBetween(a: DOMRect, b: DOMRect, boxes: readonly DOMRect[]): string {
  const middle = (one: DOMRect) => one.top + one.height / 2;
  if (Math.abs(a.left - b.left) > SWING) {
    const [from, to] = a.left < b.left ? [a.right, b.left] : [a.left, b.right];
    const bend = (from + to) / 2;
    return `M${from} ${middle(a)}C${bend} ${middle(a)} ${bend} ${middle(b)} ${to} ${middle(b)}`;
  }
  const [low, high] = [middle(a), middle(b)].toSorted((x, y) => x - y) as [number, number];
  const between = boxes.some(
    (one) => Math.abs(one.left - a.left) <= SWING && middle(one) > low && middle(one) < high,
  );
  if (!between) {
    const x = a.left + Math.min(a.width, b.width) / 2;
    return middle(a) < middle(b) ? `M${x} ${a.bottom}V${b.top}` : `M${x} ${a.top}V${b.bottom}`;
  }
  const [ya, yb] = [middle(a), middle(b)];
  return `M${a.left} ${ya}C${a.left - SWING} ${ya} ${b.left - SWING} ${yb} ${b.left} ${yb}`;
}
