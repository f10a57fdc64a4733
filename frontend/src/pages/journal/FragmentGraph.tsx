import clsx from "clsx";
import { useMemo } from "react";
import { layout } from "@/pages/journal/layout";
import type { FragmentEdge, FragmentNode } from "@/pages/journal/queries";

// A narrow one for phones: what is made smaller to fit takes its names with it.
const [WIDTH, HEIGHT] = window.matchMedia("(width >= 40rem)").matches ? [640, 460] : [360, 420];
// Room for names at the edges.
const MARGIN = 56;
const NAME_CHARACTERS = 22;

interface FragmentGraphProps {
  nodes: readonly FragmentNode[];
  edges: readonly FragmentEdge[];
  chosen: string | undefined;
  onChoose: (key: string | undefined) => void;
}

/** Fragments as points, the larger the more messages they rest on. */
export function FragmentGraph({ nodes, edges, chosen, onChoose }: FragmentGraphProps) {
  const places = useMemo(
    () =>
      layout(
        nodes.map((one) => one.key),
        edges,
        WIDTH - 2 * MARGIN,
        HEIGHT - 2 * MARGIN,
      ),
    [nodes, edges],
  );
  const near = new Set(
    edges.flatMap(({ source, target }) =>
      source === chosen ? [target] : target === chosen ? [source] : [],
    ),
  );
  return (
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${WIDTH} ${HEIGHT}`}
      className="w-full overflow-visible"
      role="group"
      aria-label="Fragments and their links"
    >
      {edges.map((edge) => {
        const [from, to] = [places.get(edge.source), places.get(edge.target)];
        if (!from || !to) return null;
        const touches = edge.source === chosen || edge.target === chosen;
        return (
          <line
            key={`${edge.source} ${edge.target}`}
            x1={from.x}
            y1={from.y}
            x2={to.x}
            y2={to.y}
            className={touches ? "stroke-accent" : "stroke-line-strong"}
            strokeWidth={touches ? 1.5 : 1}
          >
            {edge.relation && <title>{edge.relation}</title>}
          </line>
        );
      })}
      {nodes.map((node) => {
        const place = places.get(node.key);
        if (!place) return null;
        const isChosen = node.key === chosen;
        const choose = () => onChoose(isChosen ? undefined : node.key);
        return (
          <g
            key={node.key}
            role="button"
            tabIndex={0}
            aria-pressed={isChosen}
            transform={`translate(${place.x} ${place.y})`}
            className="cursor-pointer"
            onClick={choose}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== " ") return;
              event.preventDefault();
              choose();
            }}
          >
            <circle
              r={5 + Math.min(9, Math.sqrt(node.sources))}
              className={clsx(
                isChosen ? "fill-accent" : near.has(node.key) ? "fill-chart-3" : "fill-chart-2",
              )}
            >
              <title>{node.ambient ?? node.key}</title>
            </circle>
            <text
              y={-12}
              textAnchor="middle"
              className={clsx("text-xs", isChosen ? "fill-ink font-semibold" : "fill-ink-2")}
            >
              {node.key.length > NAME_CHARACTERS
                ? `${node.key.slice(0, NAME_CHARACTERS - 1)}…`
                : node.key}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
