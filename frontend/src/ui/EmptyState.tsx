import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "@/ui/Button";

interface EmptyStateProps {
  icon: LucideIcon;
  title: string;
  /** What would be here, and how it comes to be: an empty page teaches. */
  children: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <div className="mb-4 flex size-11 items-center justify-center rounded-full bg-accent-soft text-accent-ink">
        <Icon className="size-5" aria-hidden />
      </div>
      <p className="text-lg font-semibold">{title}</p>
      <div className="mt-1.5 max-w-md text-ink-2">{children}</div>
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

interface NoneFitsProps {
  icon: LucideIcon;
  /** One of what was looked for: "fact". */
  what: string;
  onClear: () => void;
}

/** A list that is empty for its filters alone. */
export function NoneFits({ icon, what, onClear }: NoneFitsProps) {
  return (
    <EmptyState
      icon={icon}
      title={`No ${what} fits these filters`}
      action={<Button onClick={onClear}>Clear the filters</Button>}
    >
      Filters narrow each other; every one that is set must hold.
    </EmptyState>
  );
}

/** A command to type, within an explanation. */
export function Code({ children }: { children: string }) {
  return (
    <code className="rounded bg-sunken px-1.5 py-0.5 font-mono text-xs text-ink">{children}</code>
  );
}
