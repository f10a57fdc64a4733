import type { ReactNode } from "react";

interface PageProps {
  title: string;
  /** What this page is for, in a sentence. */
  lead?: ReactNode;
  /** At the right of the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of every page: its one heading, the title of the window, and its width. */
export function Page({ title, lead, actions, children }: PageProps) {
  return (
    <div className="mx-auto w-full max-w-6xl px-4 pt-6 pb-24 sm:px-8 sm:pt-8">
      <title>{`${title} · Memory Butler`}</title>
      <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {lead && <p className="mt-1 max-w-2xl text-ink-2">{lead}</p>}
        </div>
        {actions && <div className="flex min-w-0 flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
