import { useId, type ReactNode } from "react";

interface SectionProps {
  title: string;
  /** Beside the title, at the right. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A titled part of a drawer. */
export function Section({ title, aside, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="border-t py-5 first:border-t-0 first:pt-0">
      <header className="mb-3 flex items-baseline justify-between gap-3">
        <h3 id={id} className="text-sm font-semibold">
          {title}
        </h3>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Names and what they stand for, in two columns. */
export function Details({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-y-2.5 text-sm">{children}</dl>;
}

export function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
