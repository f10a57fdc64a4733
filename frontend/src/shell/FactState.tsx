import { Hourglass } from "lucide-react";
import type { Schemas } from "@/api/client";
import { Badge } from "@/ui/Badge";

/** The badge of a fact that is not simply true; nothing for one that is (DASH-15). */
export function FactState({ state }: { state: Schemas["Fact"]["lifecycle_state"] }) {
  switch (state) {
    case "active":
      return null;
    case "fading":
      return (
        <Badge tone="warn" title="Below 20 % confidence: confirm it, or it will expire.">
          <Hourglass /> fading
        </Badge>
      );
    case "waiting":
      return (
        <Badge tone="warn" title="Its evidence is in doubt: no agent gets it until you accept it.">
          <Hourglass /> waiting
        </Badge>
      );
    case "superseded":
      return <Badge title="A newer or more certain fact took its place.">superseded</Badge>;
    case "expired":
      return <Badge title="Its confidence fell below 5 %.">expired</Badge>;
    case "retracted":
      return (
        <Badge tone="bad" title="Forgotten on request; it can be restored.">
          forgotten
        </Badge>
      );
  }
}
