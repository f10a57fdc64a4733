import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, asked, type Schemas } from "@/api/client";

export type ListedReceipt = Schemas["ListedReceipt"];
export type Explained = Schemas["ExplainedContext"];
export type Weighed = Explained["memories"][number];
export type Replayed = Schemas["Replayed"];

// The newest; receipts are kept for some weeks, and a butler narrows them.
export const SHOWN = 200;

export function receipts(butler: string | undefined) {
  return queryOptions({
    ...asked(["receipts", butler], "/api/memory/contexts", { query: { butler, limit: SHOWN } }),
    placeholderData: keepPreviousData,
  });
}

export function explained(id: string) {
  return asked(["receipt", id], "/api/memory/contexts/{receipt_id}", { path: { receipt_id: id } });
}

/** The block, made again. Refused where an episode that was in it is deleted. */
export function replay(id: string): Promise<Replayed> {
  return answer(
    api.GET("/api/memory/contexts/{receipt_id}/replay", { params: { path: { receipt_id: id } } }),
  );
}
