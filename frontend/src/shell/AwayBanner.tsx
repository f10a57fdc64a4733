import { useQueryClient } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import { useEffect } from "react";
import { onRecovery, useAway } from "@/api/reachability";
import { toast } from "@/ui/toasts";

const SAID = {
  database: "The database is away. What you see is what was last read; nothing can be changed now.",
  server: "The server does not answer. What you see is what was last read.",
};

/** Says what is away, and goes by itself once it is back. */
export function AwayBanner() {
  const away = useAway();
  const queries = useQueryClient();
  useEffect(
    () =>
      onRecovery(() => {
        void queries.invalidateQueries();
        toast("Connected again.");
      }),
    [queries],
  );
  if (away === "nobody") return null;
  return (
    <div
      role="alert"
      className="sticky top-0 z-20 flex items-center gap-2.5 border-b border-warn bg-warn-soft px-4 py-2.5 text-warn-ink sm:px-8"
    >
      <LoaderCircle className="size-4 shrink-0 animate-spin" aria-hidden />
      <p>{SAID[away]} Trying again by itself.</p>
    </div>
  );
}
