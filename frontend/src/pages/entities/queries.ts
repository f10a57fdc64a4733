import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, asked, listed, type Schemas } from "@/api/client";
import type { EntitiesSearch } from "@/pages/entities/route";
import type { Past } from "@/shell/past";

export type Entity = Schemas["Entity"];
export type ListedEntity = Schemas["ListedEntity"];

// The most that the API gives at once.
const PAGE = 200;
// Of the entities to merge with; more letters narrow them better than more rows would.
const CHOICES = 8;

export function entityPages({ q, entity_type, show }: EntitiesSearch, past?: Past) {
  const merged = show === "merged";
  return listed(
    ["entities", q, entity_type, merged, past?.known_at],
    "/api/memory/entities",
    (offset) => ({
      query: {
        q,
        entity_type,
        merged,
        // An entity has no period: it is known or not.
        known_at: past?.known_at,
        limit: PAGE,
        offset,
      },
    }),
  );
}

/** Whom one entity may be merged with: others of these letters. */
export function others(entity: Entity, q: string) {
  return queryOptions({
    ...asked(["entities", "others", entity.id, q], "/api/memory/entities", {
      query: { q: q || undefined, limit: CHOICES + 1 },
    }),
    select: ({ items }) => items.filter((one) => one.id !== entity.id).slice(0, CHOICES),
    placeholderData: keepPreviousData,
  });
}

/** Entities that a name may refer to, best match first. */
export function candidates({ name, topic, entity_type, fuzzy }: EntitiesSearch) {
  return queryOptions({
    queryKey: ["resolve", name, topic, entity_type, fuzzy],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/entities/resolve", {
          signal,
          body: {
            name: name ?? "",
            entity_type: entity_type ?? null,
            context_hints: topic ? { topic } : null,
            enable_fuzzy: fuzzy === "yes",
          },
        }),
      ),
    select: (found) => found.candidates,
    enabled: Boolean(name),
    placeholderData: keepPreviousData,
  });
}

/** What merging the first into the second would do. */
export function mergePreview(source: string | undefined, target: string | undefined) {
  return queryOptions({
    queryKey: ["merge", source, target],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/entities/merge/preview", {
          signal,
          body: { source_entity_id: source!, target_entity_id: target! },
        }),
      ),
    enabled: source !== undefined && target !== undefined,
    // Of an earlier look nothing is kept: it would seem to change while one reads it.
    gcTime: 0,
  });
}
