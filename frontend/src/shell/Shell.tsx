import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { Menu, Search } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { arriving } from "@/api/arriving";
import { SIGNED_OUT } from "@/api/client";
import { useLiveUpdates } from "@/api/live";
import { reportAway } from "@/api/reachability";
import { AwayBanner } from "@/shell/AwayBanner";
import { hasUnsaved } from "@/shell/change";
import { Drawers } from "@/shell/Drawers";
import { OPEN_PALETTE, openPalette } from "@/shell/palette";
import { usePastDays } from "@/shell/past";
import { isReadOnly, session } from "@/shell/session";
import { Sidebar } from "@/shell/Sidebar";
import { useShortcuts } from "@/shell/useShortcuts";
import { IconButton } from "@/ui/Button";
import { useToasts } from "@/ui/toasts";

// Needed by few visits: each comes when it is asked for.
const PastBanner = lazy(arriving(() => import("@/shell/PastBanner")));
const Palette = lazy(arriving(() => import("@/shell/Palette")));
const PhoneMenu = lazy(arriving(() => import("@/shell/PhoneMenu")));
const ShortcutsHelp = lazy(arriving(() => import("@/shell/ShortcutsHelp")));
const ReadOnlyBanner = lazy(arriving(() => import("@/shell/ReadOnlyBanner")));
const Tour = lazy(arriving(() => import("@/shell/Tour")));
const UnmaskDialog = lazy(arriving(() => import("@/memory/UnmaskDialog")));
const Toasts = lazy(arriving(() => import("@/ui/Toasts")));

/** What surrounds every page. */
export function Shell() {
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  const [unmasking, setUnmasking] = useState(false);
  const [palette, setPalette] = useState(false);
  // What is typed while the palette is still loading.
  const early = useRef("");
  const showPalette = useCallback(() => {
    early.current = "";
    // At once, so that the very next key finds a box.
    flushSync(() => setPalette(true));
  }, []);
  const showHelp = useCallback(() => setHelp(true), []);
  useShortcuts({ palette: showPalette, help: showHelp });
  useEffect(() => {
    window.addEventListener(OPEN_PALETTE, showPalette);
    return () => window.removeEventListener(OPEN_PALETTE, showPalette);
  }, [showPalette]);
  useSignInWhenSignedOut();
  const { data: me } = useQuery(session);
  useLiveUpdates(me !== undefined);
  const toasted = useToasts().length > 0;
  const main = useFocusOnNewPage();
  const past = usePastDays();

  return (
    <>
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-3 focus:left-3"
      >
        Skip to the content
      </a>
      <div className="min-h-dvh lg:flex">
        <aside className="on-screen sticky top-0 h-dvh w-60 shrink-0 border-r max-lg:hidden">
          <Sidebar onHelp={showHelp} />
        </aside>
        <div className="min-w-0 flex-1">
          <header className="on-screen flex items-center gap-2 border-b bg-surface px-2 py-2 lg:hidden">
            <IconButton label="Menu" onClick={() => setMenu(true)}>
              <Menu />
            </IconButton>
            <span className="flex-1 font-semibold tracking-tight">Memory Butler</span>
            <IconButton label="Search" onClick={openPalette}>
              <Search />
            </IconButton>
          </header>
          <AwayBanner />
          <Suspense>{me && isReadOnly(me) && <ReadOnlyBanner />}</Suspense>
          <Suspense>{me?.demo && <Tour />}</Suspense>
          <main id="main" ref={main} tabIndex={-1} className="outline-none">
            <Outlet />
          </main>
          <Suspense>{past && <PastBanner past={past} />}</Suspense>
        </div>
      </div>
      <Drawers />
      <Suspense>
        {menu && <PhoneMenu onClose={() => setMenu(false)} onHelp={showHelp} />}
        {help && <ShortcutsHelp onClose={() => setHelp(false)} />}
        {unmasking && <UnmaskDialog onClose={() => setUnmasking(false)} />}
        {toasted && <Toasts />}
      </Suspense>
      {palette && (
        <Suspense fallback={<EarlyKeys typed={early} />}>
          <Palette
            onClose={() => setPalette(false)}
            onHelp={showHelp}
            onUnmask={() => setUnmasking(true)}
            typedBefore={early}
          />
        </Suspense>
      )}
    </>
  );
}

/** Keeps what is typed until there is a box for it. */
function EarlyKeys({ typed }: { typed: RefObject<string> }) {
  return (
    <input
      autoFocus
      aria-label="Search everything"
      className="sr-only"
      onChange={(event) => (typed.current = event.target.value)}
    />
  );
}

/** A request met a missing or expired token: sign in, then back to where one was; what is typed stays. */
function useSignInWhenSignedOut(): void {
  const navigate = useNavigate();
  const { href } = useLocation();
  useEffect(() => {
    function leave(): void {
      if (hasUnsaved()) return reportAway("session");
      void navigate({ to: "/sign-in", search: { back: href }, replace: true });
    }
    window.addEventListener(SIGNED_OUT, leave);
    return () => window.removeEventListener(SIGNED_OUT, leave);
  }, [navigate, href]);
}

/** A new page takes the focus, so that the keyboard and a screen reader begin at its top. */
function useFocusOnNewPage(): React.RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current !== pathname) main.current?.focus({ preventScroll: true });
    before.current = pathname;
  }, [pathname]);
  return main;
}
