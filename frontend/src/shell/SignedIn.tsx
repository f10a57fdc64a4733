import { useQuery } from "@tanstack/react-query";
import { LogOut } from "lucide-react";
import { answer, api } from "@/api/client";
import { session } from "@/shell/session";
import { IconButton } from "@/ui/Button";

// What a server without tokens shows to whoever asks.
const DEFAULT_TENANT = "default";

/** Who one is, and the way out; nothing where the server asks nobody. */
export function SignedIn() {
  const { data: me } = useQuery(session);
  if (!me?.signed_in || (!me.token_required && me.tenant === DEFAULT_TENANT)) return null;
  const leave = async () => {
    await answer(api.DELETE("/api/session"));
    // A full load: nothing that was read stays in this browser's memory.
    window.location.assign("/sign-in");
  };
  return (
    <>
      <span
        className="ml-1 min-w-0 flex-1 truncate text-sm text-ink-3"
        title={me.actor ?? undefined}
      >
        {me.tenant === DEFAULT_TENANT ? me.actor : `tenant ${me.tenant}`}
      </span>

      <IconButton label="Sign out" title="Sign out" onClick={() => void leave()}>
        <LogOut />
      </IconButton>
    </>
  );
}
