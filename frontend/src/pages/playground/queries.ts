import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, asked, type Schemas } from "@/api/client";
import type { PlaygroundSearch } from "@/pages/playground/route";

export type Block = Schemas["ContextOutput"];
export type Weighed = NonNullable<Block["considered"]>[number];

/** The scope that every butler sees; a butler of this name sees nothing else. */
const GLOBAL = "global";

/** The block that a session of the butler would get for the prompt, and why. */
export function block({ prompt, butler, budget }: PlaygroundSearch) {
  return queryOptions({
    queryKey: ["context", prompt, butler, budget],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/context", {
          signal,
          body: {
            trigger_prompt: prompt ?? "",
            butler: butler ?? GLOBAL,
            explain: true,
            preview: true,
            ...(budget !== undefined && { token_budget: budget }),
          },
        }),
      ),
    enabled: Boolean(prompt),
    placeholderData: keepPreviousData,
  });
}

/** What would change in the block if a memory of it were gone. */
export function blockWithout({ prompt, butler, budget }: PlaygroundSearch, without: string) {
  return queryOptions({
    queryKey: ["context", "without", prompt, butler, budget, without],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/context/without", {
          signal,
          body: {
            trigger_prompt: prompt ?? "",
            butler: butler ?? GLOBAL,
            without: [without],
            ...(budget !== undefined && { token_budget: budget }),
          },
        }),
      ),
  });
}

export const butlers = asked(["butlers"], "/api/butlers");
