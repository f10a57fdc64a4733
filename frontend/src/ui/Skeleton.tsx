import clsx from "clsx";

/** A grey shape where something is about to be; as large as what comes, so that nothing moves. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden className={clsx("animate-pulse rounded-md bg-line", className)} />;
}

/** Lines of a list that is loading. */
export function SkeletonRows({ rows, className = "h-9" }: { rows: number; className?: string }) {
  return (
    <div role="status" aria-label="Loading" className="space-y-2">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} className={clsx("w-full", className)} />
      ))}
    </div>
  );
}
