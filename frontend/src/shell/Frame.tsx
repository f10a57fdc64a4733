import { Outlet, useLocation } from "@tanstack/react-router";
import { Shell } from "@/shell/Shell";

/** The shell around every page but the one to sign in, which asks the server for nothing. */
export function Frame() {
  const { pathname } = useLocation();
  return pathname === "/sign-in" ? <Outlet /> : <Shell />;
}
