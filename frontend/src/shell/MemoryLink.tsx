import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { OpenedKind } from "@/shell/opened";

interface MemoryLinkProps {
  kind: OpenedKind;
  id: string;
  className?: string;
  children: ReactNode;
}

/** Opens a memory's drawer over the page that one is on; Back closes it. */
export function MemoryLink({ kind, id, className, children }: MemoryLinkProps) {
  return (
    <Link
      to="."
      search={(now) => ({ ...now, open: `${kind}:${id}` as const })}
      resetScroll={false}
      className={className ?? "font-medium text-accent-ink hover:underline"}
    >
      {children}
    </Link>
  );
}
