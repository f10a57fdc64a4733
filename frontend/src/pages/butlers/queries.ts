import { asked, listed, type Schemas } from "@/api/client";
import type { FactsSearch } from "@/pages/facts/route";

export type Butler = Schemas["Butler"];

// As many cards as one reads before asking for more.
const FACTS = 100;
// Of the playbook; a butler with more is told so.
const RULES = 200;
const EPISODES = 10;

export function butlerDetail(butler: string) {
  return asked(["butler", butler], "/api/butlers/{butler}", { path: { butler } });
}

/** The facts that a butler sees, in the order of their subjects (DASH-01). */
export function butlerFacts(
  butler: string,
  { show = "active", permanence, entity, ...rest }: Omit<FactsSearch, "sort">,
) {
  return listed(
    ["butler", butler, "facts", show, permanence, entity, rest],
    "/api/butlers/{butler}/memory/facts",
    (offset) => ({
      path: { butler },
      query: {
        ...rest,
        permanence: permanence && [permanence],
        entity_id: entity,
        validity: show,
        sort: "subject",
        direction: "asc",
        limit: FACTS,
        offset,
      },
    }),
  );
}

export function butlerRules(butler: string) {
  return asked(["butler", butler, "rules"], "/api/butlers/{butler}/memory/rules", {
    path: { butler },
    query: { sort: "effectiveness", limit: RULES },
  });
}

export function butlerEpisodes(butler: string) {
  return asked(["butler", butler, "episodes"], "/api/butlers/{butler}/memory/episodes", {
    path: { butler },
    query: { limit: EPISODES },
  });
}
