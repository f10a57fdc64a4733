import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Page } from "@/ui/Page";

interface ButlerPageProps {
  name: string;
  lead: ReactNode;
  children: ReactNode;
}

const TAB =
  "-mb-px border-b-2 border-transparent px-3 py-2 font-medium text-ink-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink";

/** What the pages of one butler share: its name, and the way from one to the other. */
export function ButlerPage({ name, lead, children }: ButlerPageProps) {
  const params = { butler: name };
  return (
    <Page title={name} lead={lead}>
      <nav aria-label={`Pages of ${name}`} className="mb-4 flex gap-1 border-b">
        <Link
          to="/butlers/$butler"
          params={params}
          activeOptions={{ exact: true, includeSearch: false }}
          className={TAB}
        >
          Overview
        </Link>
        <Link
          to="/butlers/$butler/memory"
          params={params}
          activeOptions={{ includeSearch: false }}
          className={TAB}
        >
          Memory
        </Link>
      </nav>
      {children}
    </Page>
  );
}
