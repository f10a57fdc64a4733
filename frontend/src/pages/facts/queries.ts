import { asked, listed, type Schemas } from "@/api/client";
import type { FactsSearch } from "@/pages/facts/route";
import type { Past } from "@/shell/past";

export type ListedFact = Schemas["ListedFact"];

// What fills a window comes first and soon; then the most that the API gives at once, so that fewer
// requests are made while one scrolls.
const [FIRST, PAGE] = [50, 200];

export function factPages(
  { show = "active", sort = "created", permanence, entity, ...rest }: FactsSearch,
  past?: Past,
) {
  return listed(
    ["facts", show, sort, permanence, entity, rest, past],
    "/api/memory/facts",
    (offset) => ({
      query: {
        ...rest,
        ...past,
        permanence: permanence && [permanence],
        entity_id: entity,
        validity: show,
        sort,
        limit: offset === 0 ? FIRST : PAGE,
        offset,
      },
    }),
  );
}

export function factDetail(id: string, past?: Past) {
  return asked(["fact", id, past], "/api/memory/facts/{fact_id}", {
    path: { fact_id: id },
    query: { ...past },
  });
}
