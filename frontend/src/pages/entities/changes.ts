import { answer, api, type Schemas } from "@/api/client";
import { undoing } from "@/memory/undo";
import type { Entity } from "@/pages/entities/queries";
import type { Change } from "@/shell/change";
import { plural } from "@/ui/format";

// As many of the latest merges as the API gives at once.
const MERGES = 200;

export type EntityChanges = Schemas["EntityUpdateRequest"];

/** Another name, other aliases. */
export function editEntity(before: Entity, changes: EntityChanges): Change {
  return async () => {
    const { entity } = await answer(
      api.PATCH("/api/memory/entities/{entity_id}", {
        params: { path: { entity_id: before.id } },
        body: changes,
      }),
    );
    const inverse = Object.fromEntries(
      Object.keys(changes).map((name) => [name, before[name as keyof EntityChanges]]),
    );
    return { said: "Saved.", ...(entity && { undo: editEntity(entity, inverse) }) };
  };
}

/** Makes two entities one, if all is still as its preview was. */
export function merge(source: Entity, target: Entity, revision: string): Change {
  return async () => {
    const done = await answer(
      api.POST("/api/memory/entities/merge", {
        params: { header: { "If-Match": `"${revision}"` } },
        body: { source_entity_id: source.id, target_entity_id: target.id },
      }),
    );
    const moved = plural(done.facts_repointed, "fact");
    return {
      said: `${source.canonical_name} is ${target.canonical_name} now: ${moved} moved.`,
      shown: `entity:${target.id}`,
      undo: unmerge(source),
    };
  };
}

/** Takes the merge back by which an entity became another. */
export function unmerge(source: Entity): Change {
  return undoing(() => mergeOf(source.id), "Merge undone.");
}

async function mergeOf(source: string) {
  const { items } = await answer(
    api.GET("/api/memory/events", {
      params: { query: { kind: ["entity_merge"], limit: MERGES } },
    }),
  );
  return items.find((one) => one.payload["source_entity_id"] === source);
}
