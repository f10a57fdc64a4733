import { lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { nextRecovery, reportAway } from "@/api/reachability";

interface PageModule {
  default: ComponentType;
}

/**
 * A page's component, loaded when it is first visited. While the server is away the page that one is
 * on stays, and the new one comes once the server does.
 */
export function page(load: () => Promise<PageModule>) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch {
      reportAway("server");
      await nextRecovery();
      // Where it fails again, the server has another version by now: the router reloads the page.
      return await load();
    }
  });
}
