import type { Mapped, MapEdge, MapNode } from "@/pages/map/queries";

/** From one entity to another, by the facts that have both. */
export interface Step {
  node: MapNode;
  edge: MapEdge;
}

/** The neighbours of each entity, those with the most facts in common first. */
export type Connections = ReadonlyMap<string, readonly Step[]>;

export function connectionsOf({ nodes, edges }: Mapped): Connections {
  const byId = new Map(nodes.map((one) => [one.id, one]));
  const found = new Map<string, Step[]>(nodes.map((one) => [one.id, []]));
  const add = (from: string, to: string, edge: MapEdge) => {
    const node = byId.get(to);
    if (node) found.get(from)?.push({ node, edge });
  };
  for (const edge of edges.toSorted((a, b) => b.facts - a.facts)) {
    add(edge.source_id, edge.target_id, edge);
    add(edge.target_id, edge.source_id, edge);
  }
  return found;
}

/** The steps of a shortest way; none where there is no way, or both are the same. */
export function pathBetween(connections: Connections, from: string, to: string): readonly Step[] {
  const reached = new Map<string, { before: string; step: Step } | undefined>([[from, undefined]]);
  // What is added while one goes through it comes last: by breadth first.
  for (const [id] of reached) {
    if (id === to) break;
    for (const step of connections.get(id) ?? []) {
      if (!reached.has(step.node.id)) reached.set(step.node.id, { before: id, step });
    }
  }
  const steps: Step[] = [];
  for (let at = reached.get(to); at; at = reached.get(at.before)) steps.unshift(at.step);
  return steps;
}
