import { answer, api } from "@/api/client";
import type { Change, Done } from "@/shell/change";
import { plural } from "@/ui/format";

/** Restores what was masked under a key: whoever stored it was told the key. */
export function unmask(key: string): Change {
  return async () => {
    const { restored, left } = await answer(
      api.POST("/api/memory/unmask", { body: { unmask_key: key } }),
    );
    const [first] = restored;
    const stays = left.length ? ` Still masked: ${left.length}.` : "";
    return {
      said: `Restored ${plural(restored.length, "memory", "memories")}.${stays}`,
      ...(first && { shown: `${first.memory_type}:${first.id}` as const }),
    };
  };
}

/** What a toast adds where something was masked: a way to keep it. */
export function maskedPart(key: string | null | undefined): Pick<Done, "keep"> {
  return key ? { keep: unmask(key) } : {};
}
