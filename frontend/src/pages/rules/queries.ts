import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { asked, listed, type Schemas } from "@/api/client";
import type { RulesSearch } from "@/pages/rules/route";
import type { Past } from "@/shell/past";

export type ListedRule = Schemas["ListedRule"];

// Of each maturity, before one asks for more.
const PAGE = 25;

/** The rules that the filters let through. */
export function rulePages(search: RulesSearch, past?: Past) {
  return listed(["rules", search, past], "/api/memory/rules", (offset) => ({
    query: { ...criteria(search, past), limit: PAGE, offset },
  }));
}

/** How many there are of them, in the answer to the smallest question. */
export function rulesTotal(search: RulesSearch, past?: Past) {
  return queryOptions({
    ...asked(["rules", "total", search, past], "/api/memory/rules", {
      query: { ...criteria(search, past), limit: 1, offset: 0 },
    }),
    placeholderData: keepPreviousData,
  });
}

function criteria(
  { show = "kept", sort = "effectiveness", maturity, ...rest }: RulesSearch,
  past?: Past,
) {
  return { ...rest, ...past, maturity: maturity && [maturity], state: show, sort };
}

export function ruleDetail(id: string, past?: Past) {
  return asked(["rule", id, past], "/api/memory/rules/{rule_id}", {
    path: { rule_id: id },
    query: { ...past },
  });
}
