import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "@/api/client";

export type ListedReceipt = Schemas["ListedReceipt"];
export type Explained = Schemas["ExplainedContext"];
export type Weighed = Explained["memories"][number];
export type Replayed = Schemas["Replayed"];

// The newest; receipts are kept for some weeks, and a butler narrows them.
export const SHOWN = 200;

export function receipts(butler: string | undefined) {
  return queryOptions({
    queryKey: ["receipts", butler],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/contexts", { signal, params: { query: { butler, limit: SHOWN } } }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function explained(id: string) {
  return queryOptions({
    queryKey: ["receipt", id],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/memory/contexts/{receipt_id}", {
          signal,
          params: { path: { receipt_id: id } },
        }),
      ),
  });
}

/** The block, made again. Refused where an episode that was in it is deleted. */
export function replay(id: string): Promise<Replayed> {
  return answer(
    api.GET("/api/memory/contexts/{receipt_id}/replay", { params: { path: { receipt_id: id } } }),
  );
}
