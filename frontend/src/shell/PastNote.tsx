import { History } from "lucide-react";
import { usePastDays } from "@/shell/past";
import { day } from "@/ui/format";

/** In a drawer, in place of what one can do: of which day this is. Nothing in the present. */
export function PastNote() {
  const past = usePastDays();
  if (!past) return null;
  const days = [
    past.known_at && `as it was known at the end of ${day(past.known_at, "long")}`,
    past.as_of && `as it was true at the end of ${day(past.as_of, "long")}`,
  ];
  return (
    <p className="mb-5 flex items-center gap-2 rounded-lg bg-warn-soft px-3.5 py-2.5 text-sm text-warn-ink">
      <History className="size-4 shrink-0" aria-hidden />
      {`This is ${days.filter(Boolean).join(", ")}. Nothing can be changed there.`}
    </p>
  );
}
