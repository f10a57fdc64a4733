import { asked, listed } from "@/api/client";
import type { EpisodesSearch, SHOWN } from "@/pages/episodes/route";
import { span } from "@/shell/days";
import type { Past } from "@/shell/past";

const PAGE = 50;

export function episodePages(
  { show = "all", order, q, butler, from, to }: EpisodesSearch,
  past?: Past,
) {
  return listed(
    ["episodes", show, order, q, butler, from, to, past],
    "/api/memory/episodes",
    (offset) => ({
      query: {
        q,
        butler,
        ...span({ from, to }),
        ...state(show),
        ...past,
        sort: order === "important" ? "importance" : "occurred",
        direction: order === "oldest" ? "asc" : "desc",
        limit: PAGE,
        offset,
      },
    }),
  );
}

/** What a tab asks for: expired ones are in a tab of their own. */
function state(show: (typeof SHOWN)[number]) {
  switch (show) {
    case "all":
      return {};
    case "expired":
      return { expired: true };
    default:
      return { status: [show] };
  }
}

export function episodeDetail(id: string, past?: Past) {
  return asked(["episode", id, past], "/api/memory/episodes/{episode_id}", {
    path: { episode_id: id },
    query: { ...past },
  });
}
