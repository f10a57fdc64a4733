import type { Schemas } from "@/api/client";

export type Node = Schemas["Node"];
export type Relation = Schemas["Edge"]["relation"];

/** An arrow the way that knowledge went: from what was known first to what came of it. */
export interface Arrow {
  from: string;
  to: string;
  relation: Relation;
}

/** A provenance graph in the order in which it is read. */
export interface Layout {
  /** What it came from: episodes, and what supports it. */
  sources: Node[];
  /** The memory itself among those that it replaced and was replaced by, the oldest first. */
  versions: Node[];
  /** What rests on it, and what it is otherwise linked to. */
  results: Node[];
  arrows: Arrow[];
}

/** Which node stands where. Of a memory with links of both kinds, what it came from decides. */
export function layout({ nodes, edges }: Schemas["Provenance"], id: string): Layout {
  const arrows = edges.map(arrow);
  const versions = versionsOf(id, arrows);
  const sources = new Set(
    arrows.filter((one) => versions.has(one.to) && !versions.has(one.from)).map((one) => one.from),
  );
  const byAge = nodes.toSorted((a, b) => (a.created_at ?? "").localeCompare(b.created_at ?? ""));
  return {
    sources: byAge.filter((one) => sources.has(one.id)),
    versions: byAge.filter((one) => versions.has(one.id)),
    results: byAge.filter((one) => !sources.has(one.id) && !versions.has(one.id)),
    arrows,
  };
}

function arrow({ source_id, target_id, relation }: Schemas["Edge"]): Arrow {
  switch (relation) {
    case "derived_from":
    case "supersedes":
      return { from: target_id, to: source_id, relation };
    case "supports":
    case "contradicts":
    case "related_to":
      return { from: source_id, to: target_id, relation };
  }
}

/** The memory and all that supersession joins it to. */
function versionsOf(id: string, arrows: readonly Arrow[]): Set<string> {
  const found = new Set([id]);
  for (const one of found) {
    for (const { from, to, relation } of arrows) {
      if (relation !== "supersedes") continue;
      if (from === one) found.add(to);
      if (to === one) found.add(from);
    }
  }
  return found;
}
