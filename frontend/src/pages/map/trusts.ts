import type { MapNode } from "@/pages/map/queries";

export type TrustShown = NonNullable<MapNode["trust"]> | "unknown";

/** What colour stands for which trust, for the picture and its legend; written out for Tailwind. */
export const TRUSTS = [
  { trust: "user_said", color: "good", fill: "bg-good", label: "user said" },
  { trust: "agent_inferred", color: "chart-2", fill: "bg-chart-2", label: "agent inferred" },
  { trust: "tool_output", color: "chart-3", fill: "bg-chart-3", label: "tool output" },
  { trust: "imported", color: "warn", fill: "bg-warn", label: "imported" },
  { trust: "untrusted_web", color: "bad", fill: "bg-bad", label: "untrusted web" },
  { trust: "unknown", color: "chart-5", fill: "bg-chart-5", label: "no fact yet" },
] as const satisfies readonly {
  trust: TrustShown;
  color: string;
  fill: string;
  label: string;
}[];

/** How far an entity's facts are to be believed, as it is shown. */
export function trusted({ trust }: MapNode) {
  return TRUSTS.find((one) => one.trust === (trust ?? "unknown"))!;
}
