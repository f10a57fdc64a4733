import { useQuery, useQueryClient } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import { useEffect } from "react";
import { onRecovery, useAway, type Away } from "@/api/reachability";
import { session } from "@/shell/session";
import { toast } from "@/ui/toasts";

const SAID: Record<Exclude<Away, "nobody">, string> = {
  database:
    "The database is away. What you see is what was last read; nothing can be changed now. Trying again by itself.",
  server: "The server does not answer. What you see is what was last read. Trying again by itself.",
  session: "You are signed out, so nothing can be saved. What you have typed stays here.",
  tenant: "This browser is signed in to another tenant by now, so nothing can be saved here.",
};

/** Says what is away, and goes by itself once it is back. */
export function AwayBanner() {
  const away = useAway();
  const queries = useQueryClient();
  const { data: me } = useQuery(session);
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
      <p>
        {SAID[away]}{" "}
        {away === "session" && (
          <a href="/sign-in" target="_blank" className="underline">
            Sign in in another tab
          </a>
        )}
        {away === "tenant" && (
          <>
            What you see is of {me?.tenant}.{" "}
            <a href="/memory" className="underline">
              Show the other tenant
            </a>
          </>
        )}
      </p>
    </div>
  );
}
