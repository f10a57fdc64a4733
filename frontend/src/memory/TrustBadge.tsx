import type { Schemas } from "@/api/client";
import { Badge, type Tone } from "@/ui/Badge";

type Trust = Schemas["Fact"]["trust"];

const MEANING: Record<Trust, { label: string; tone: Tone; title: string }> = {
  user_said: { label: "user said", tone: "good", title: "In the user's own words." },
  agent_inferred: {
    label: "agent inferred",
    tone: "neutral",
    title: "An agent's own account or conclusion.",
  },
  tool_output: {
    label: "tool output",
    tone: "warn",
    title: "From what a tool gave out, or drawn from that.",
  },
  imported: { label: "imported", tone: "warn", title: "From another system, or drawn from that." },
  untrusted_web: {
    label: "untrusted web",
    tone: "bad",
    title: "From a page that anybody may have written, or drawn from one.",
  },
};

/** How far a memory is to be believed: no further than anything it was drawn from. */
export function TrustBadge({ trust }: { trust: Trust }) {
  const { label, tone, title } = MEANING[trust];
  return (
    <Badge tone={tone} title={title}>
      {label}
    </Badge>
  );
}
