import { Badge, type Tone } from "@/ui/Badge";
import { words } from "@/ui/format";

const TONES: Partial<Record<string, Tone>> = {
  succeeded: "good",
  running: "accent",
  retrying: "warn",
  given_back: "warn",
  denied: "bad",
  lost: "warn",
  failed: "bad",
};

/** How a run ended, or that it has not. */
export function RunStatus({ status }: { status: string }) {
  return <Badge tone={TONES[status] ?? "neutral"}>{words(status)}</Badge>;
}
