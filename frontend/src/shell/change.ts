import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Opened } from "@/shell/opened";
import { toast, toastError } from "@/ui/toasts";

/** Something that a person does to memory. */
export type Change = () => Promise<Done>;

export interface Done {
  /** What was done, in a sentence. */
  said: string;
  /** Takes it back, where the API can. */
  undo?: Change;
  /** Keeps what was typed, where some of it was masked. */
  keep?: Change;
  /** What the open drawer should show from now on: an edited fact is another fact. */
  shown?: Opened;
}

/**
 * Makes changes: says what was done, offers to take it back, and reads anew whatever is shown.
 * A refusal is told as a toast unless `refused` does something else with it.
 */
export function useChange(
  refused: (error: Error) => void = toastError,
): UseMutationResult<Done, Error, Change> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const change: UseMutationResult<Done, Error, Change> = useMutation({
    mutationFn: (make: Change) => make(),
    onSuccess: ({ said, undo, keep, shown }) => {
      toast(said, undo && (() => change.mutate(undo)), keep && (() => change.mutate(keep)));
      if (shown)
        void navigate({
          to: ".",
          search: (now) => (now.open ? { ...now, open: shown } : now),
          resetScroll: false,
        });
    },
    onError: refused,
    // Awaited: what was pressed stays busy until the page shows what came of it.
    onSettled: () => queries.invalidateQueries(),
  });
  return change;
}
