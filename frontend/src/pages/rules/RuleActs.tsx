import { ArrowDown, ArrowUp, Power, PowerOff, type LucideIcon } from "lucide-react";
import { allowed, type Act } from "@/pages/rules/changes";
import type { Schemas } from "@/api/client";
import { IconButton, Button } from "@/ui/Button";
import { Tooltip } from "@/ui/Tooltip";

const ACTS: Record<Act, { title: string; icon: LucideIcon }> = {
  promote: { title: "Promote", icon: ArrowUp },
  demote: { title: "Demote", icon: ArrowDown },
  disable: { title: "Switch off", icon: PowerOff },
  enable: { title: "Switch on", icon: Power },
};

interface RuleActsProps {
  rule: Pick<Schemas["StatedRule"], "maturity" | "state">;
  busy: boolean;
  onAct: (act: Act) => void;
  /** Icons alone, as in a list. */
  small?: boolean;
}

/** The switches of a rule's standing: promote, demote, off and on (DASH-08). */
export function RuleActs({ rule, busy, onAct, small = false }: RuleActsProps) {
  return allowed(rule).map((act) => {
    const { title, icon: Icon } = ACTS[act];
    return small ? (
      <Tooltip key={act} text={title}>
        <IconButton label={title} busy={busy} onClick={() => onAct(act)}>
          <Icon />
        </IconButton>
      </Tooltip>
    ) : (
      <Button key={act} busy={busy} onClick={() => onAct(act)}>
        <Icon /> {title}
      </Button>
    );
  });
}
