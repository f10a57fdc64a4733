import { Hourglass, PowerOff, TriangleAlert } from "lucide-react";
import type { Schemas } from "@/api/client";
import { Badge } from "@/ui/Badge";

type Rule = Schemas["StatedRule"];

/** The badges of a rule that agents do not simply follow. */
export function RuleState({ rule }: { rule: Pick<Rule, "maturity" | "state"> }) {
  return (
    <>
      {rule.maturity === "anti_pattern" && (
        <Badge tone="bad" title="It did harm too often: agents get it as a warning.">
          <TriangleAlert /> anti-pattern
        </Badge>
      )}
      <State state={rule.state} />
    </>
  );
}

function State({ state }: { state: Rule["state"] }) {
  switch (state) {
    case "active":
      return null;
    case "fading":
      return (
        <Badge tone="warn" title="Below 20 % confidence: agents no longer get it.">
          <Hourglass /> fading
        </Badge>
      );
    case "disabled":
      return (
        <Badge title="Switched off by a person; it can be switched on again.">
          <PowerOff /> off
        </Badge>
      );
    case "forgotten":
      return (
        <Badge tone="bad" title="Forgotten on request; it can be restored.">
          forgotten
        </Badge>
      );
  }
}
