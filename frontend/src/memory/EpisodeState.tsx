import { Badge } from "@/ui/Badge";
import { words } from "@/ui/format";

/** The states in which consolidation leaves an episode alone until somebody retries it. */
export const GAVE_UP: ReadonlySet<string> = new Set(["failed", "dead_letter"]);

/** Whether an episode was learned from yet (DASH-09). */
export function EpisodeState({ status }: { status: string }) {
  switch (status) {
    case "consolidated":
      return (
        <Badge tone="good" title="A consolidation has read it; what it taught are facts and rules.">
          consolidated
        </Badge>
      );
    case "pending":
      return <Badge title="The next consolidation will read it.">waiting</Badge>;
    case "failed":
      return (
        <Badge tone="bad" title="Consolidation failed on it permanently.">
          failed
        </Badge>
      );
    case "dead_letter":
      return (
        <Badge
          tone="bad"
          title="Consolidation failed on it too often; retry it once the cause is gone."
        >
          dead letter
        </Badge>
      );
    default:
      return <Badge>{words(status)}</Badge>;
  }
}
