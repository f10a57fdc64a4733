import type { Butler } from "@/pages/butlers/queries";
import { Badge } from "@/ui/Badge";

/** How a butler's memory fares: whether what it told is being learned from. */
export function HealthBadge({ health }: { health: Butler["health"] }) {
  switch (health) {
    case "well":
      return (
        <Badge tone="good" title="Every episode is consolidated, or waits for the next run.">
          well
        </Badge>
      );
    case "behind":
      return (
        <Badge tone="warn" title="Some of its episodes wait for more than a day.">
          behind
        </Badge>
      );
    case "attention":
      return (
        <Badge
          tone="bad"
          title="Consolidation gave up on some of its episodes: see its dead letters."
        >
          needs attention
        </Badge>
      );
  }
}
