/** Memory as it stood: the days that the address names, on the pages that can show the past. */
import { useLocation, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { dayEnds } from "@/shell/days";
import { day } from "@/shell/filters";

/** Days as "2026-03-14"; the end of each is meant. */
export interface PastSearch {
  /** What was known then. */
  known_at?: string | undefined;
  /** What was true then, as far as is known. */
  as_of?: string | undefined;
}

/** The same as moments, for the API. */
export type Past = PastSearch;

export const PAST_AXES = ["known_at", "as_of"] as const;
export type PastAxis = (typeof PAST_AXES)[number];

const PAGES: ReadonlySet<string> = new Set([
  "/memory/facts",
  "/memory/rules",
  "/memory/entities",
  "/memory/map",
  "/memory/episodes",
  "/journal",
]);

/** Whether a page can show memory as it stood. */
export function showsPast(path: string): boolean {
  return PAGES.has(path);
}

/** What the address says of the past; today has not ended, so that it is the present. */
export function parsePast(search: Record<string, unknown>): PastSearch {
  return { known_at: ended(search["known_at"]), as_of: ended(search["as_of"]) };
}

function ended(value: unknown): string | undefined {
  const given = day(value);
  return given !== undefined && Date.parse(dayEnds(given)) < Date.now() ? given : undefined;
}

/** The part of an address that keeps one in the past, for links between the pages that show it. */
export function keptPast({ known_at, as_of }: PastSearch): PastSearch {
  return { known_at, as_of };
}

/** The days that are looked at; undefined in the present. */
export function usePastDays(): PastSearch | undefined {
  const { known_at, as_of } = useSearch({ from: "__root__" });
  const { pathname } = useLocation();
  return useMemo(
    () => (showsPast(pathname) && (known_at ?? as_of) ? { known_at, as_of } : undefined),
    [pathname, known_at, as_of],
  );
}

/** The moments that are looked at, as parameters of the API; undefined in the present. */
export function usePast(): Past | undefined {
  const days = usePastDays();
  return useMemo(
    () =>
      days && {
        known_at: days.known_at && dayEnds(days.known_at),
        as_of: days.as_of && dayEnds(days.as_of),
      },
    [days],
  );
}
