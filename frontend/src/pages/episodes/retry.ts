import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { plural } from "@/ui/format";
import { toast } from "@/ui/toasts";

/** Lets consolidation try again: the given episodes, or all that it gave up on. */
export function useRetry() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (ids: string[] | null) =>
      answer(api.POST("/api/memory/dead-letters/retry", { body: { episode_ids: ids } })),
    onSuccess: ({ retried }) => {
      toast(
        retried.length > 0
          ? `The next consolidation will read ${plural(retried.length, "episode")} again.`
          : "Somebody else was faster: nothing was left to retry.",
      );
      return queries.invalidateQueries();
    },
  });
}
