import { listed } from "@/api/client";
import { kindsOf } from "@/pages/timeline/kinds";
import type { TimelineSearch } from "@/pages/timeline/route";
import { span } from "@/shell/days";

const PAGE = 100;

export function eventPages({ about, kind, butler, from, to }: TimelineSearch) {
  const kinds = kind ? [kind] : about && kindsOf(about);
  return listed(["timeline", kinds, butler, from, to], "/api/memory/events", (offset) => ({
    query: { kind: kinds, butler, ...span({ from, to }), limit: PAGE, offset },
  }));
}
