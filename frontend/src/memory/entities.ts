import { asked } from "@/api/client";
import type { Past } from "@/shell/past";

/** An entity and the newest facts about it. */
export function entityDetail(id: string, past?: Past) {
  return asked(["entity", id, past], "/api/memory/entities/{entity_id}", {
    path: { entity_id: id },
    query: { ...past },
  });
}
