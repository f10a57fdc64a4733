import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { asked, type Schemas } from "@/api/client";
import { LIMITS } from "@/pages/map/route";
import type { Past } from "@/shell/past";

export type Mapped = Schemas["MapOutput"];
export type MapNode = Schemas["MapNode"];
export type MapEdge = Schemas["MapEdge"];

/** Entities and what connects them. What is drawn stays until the answer of another day is there. */
export function memoryMap(limit: (typeof LIMITS)[number] = LIMITS[0], past?: Past) {
  return queryOptions({
    ...asked(["map", limit, past], "/api/memory/map", { query: { limit: Number(limit), ...past } }),
    placeholderData: keepPreviousData,
  });
}
