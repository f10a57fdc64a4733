import { Link, useLocation } from "@tanstack/react-router";
import { Lock } from "lucide-react";

/** Says beforehand that what would change something is refused: buttons stay where they are. */
export default function ReadOnlyBanner() {
  const { href } = useLocation();
  return (
    <section
      aria-label="What this token may do"
      className="flex items-center gap-2.5 border-b bg-sunken px-4 py-2 text-sm text-ink-2 sm:px-8"
    >
      <Lock className="size-4 shrink-0" aria-hidden />
      <p>
        This token may not change anything: the server refuses it.{" "}
        <Link to="/sign-in" search={{ back: href }} className="underline">
          Sign in with another
        </Link>
      </p>
    </section>
  );
}
