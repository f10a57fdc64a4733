import { ApiError } from "@/api/problem";

/** Whether what a drawer shows has gone meanwhile: its data is what was read before. */
export function isGone(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** In a drawer: that memory no longer has what it shows, as after Back to what was undone. */
export function GoneNote({ error }: { error: Error | null }) {
  return (
    isGone(error) && (
      <p role="status" className="mb-5 rounded-lg bg-bad-soft px-3.5 py-2.5 text-sm text-bad-ink">
        This is no longer in memory: what made it was undone, or it was deleted.
      </p>
    )
  );
}
