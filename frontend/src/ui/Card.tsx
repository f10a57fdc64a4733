import clsx from "clsx";
import { useId, type ReactNode } from "react";

interface CardProps {
  title: string;
  /** Beside the title, at the right. */
  aside?: ReactNode;
  /** Under the title: what the figures mean. */
  note?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A titled box; a landmark that a screen reader finds by its title. */
export function Card({ title, aside, note, className, children }: CardProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={clsx("min-w-0 rounded-xl border bg-surface p-5 shadow-card", className)}
    >
      <header className="mb-4 flex items-baseline justify-between gap-3">
        <div className="min-w-0">
          <h2 id={id} className="text-base font-semibold">
            {title}
          </h2>
          {note && <p className="mt-0.5 text-sm text-ink-3">{note}</p>}
        </div>
        {aside}
      </header>
      {children}
    </section>
  );
}
