import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";
import type { AskSearch } from "@/pages/ask/route";

export type Answered = Schemas["AskOutput"];
export type Line = Answered["lines"][number];
export type Memory = Line["memory"];

const LINES = 5;

/** What memory has for a question; no model is called. */
export function answered({ q, min_relevance }: AskSearch) {
  return queryOptions({
    queryKey: ["ask", q, min_relevance],
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/memory/ask", {
          signal,
          body: { question: q ?? "", limit: LINES, min_relevance: min_relevance ?? null },
        }),
      ),
    enabled: Boolean(q),
    placeholderData: keepPreviousData,
  });
}
