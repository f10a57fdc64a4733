import { lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { arriving } from "@/api/arriving";

interface PageModule {
  default: ComponentType;
}

/**
 * A page's component, loaded when it is first visited. While the server is away the page that one is
 * on stays, and the new one comes once the server does.
 */
export function page(load: () => Promise<PageModule>) {
  return lazyRouteComponent(arriving(load));
}
