import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { ArrowLeftRight, LogOut } from "lucide-react";
import { answer, api } from "@/api/client";
import { tellOtherTabs } from "@/api/tenant";
import { isByToken, session } from "@/shell/session";
import { IconButton, iconButtonClass } from "@/ui/Button";

/** Whose memory one sees, the way to another's, and the way out. */
export function SignedIn() {
  const { data: me } = useQuery(session);
  const { href } = useLocation();
  if (!me?.signed_in) return null;
  const leave = async () => {
    await answer(api.DELETE("/api/session"));
    tellOtherTabs();
    // A full load: nothing that was read stays in this browser's memory.
    window.location.assign("/sign-in");
  };
  return (
    <>
      {/* In two lines: beside all the buttons a line has no room for a name. */}
      <span
        className="ml-1 min-w-0 flex-1 text-sm leading-tight text-ink-3"
        title={`${me.tenant}, as ${me.actor}`}
      >
        <span className="block">tenant </span>
        <span className="block truncate">{me.tenant}</span>
      </span>

      <Link
        to="/sign-in"
        search={{ back: href }}
        aria-label="Switch tenant"
        title="Sign in with another token"
        className={iconButtonClass}
      >
        <ArrowLeftRight />
      </Link>

      {isByToken(me) && (
        <IconButton label="Sign out" title="Sign out" onClick={() => void leave()}>
          <LogOut />
        </IconButton>
      )}
    </>
  );
}
