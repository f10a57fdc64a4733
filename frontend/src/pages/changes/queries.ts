import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { asked, type Schemas } from "@/api/client";
import { dayBegins, dayEnds } from "@/shell/days";

export type Diff = Schemas["Diff"];
export type Changed = Schemas["Changed"];

// Of each fate; a shorter span shows what these leave out.
export const SHOWN = 200;

/** What became of memory from the beginning of one day to the end of another, or until now. */
export function diff(from: string, to: string | undefined) {
  // A day that has not ended reaches until now: the API refuses a moment that has not come.
  const until = to !== undefined && Date.parse(dayEnds(to)) < Date.now() ? dayEnds(to) : undefined;
  return queryOptions({
    ...asked(["diff", from, until], "/api/memory/diff", {
      query: { from: dayBegins(from), to: until, limit: SHOWN },
    }),
    placeholderData: keepPreviousData,
  });
}
