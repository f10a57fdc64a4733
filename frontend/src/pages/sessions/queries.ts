import { asked, listed } from "@/api/client";
import type { SessionsSearch } from "@/pages/sessions/route";

const PAGE = 50;

export function sessionPages({ butler }: SessionsSearch) {
  return listed(["sessions", butler], "/api/memory/sessions", (offset) => ({
    query: { butler, limit: PAGE, offset },
  }));
}

export function sessionDetail(id: string) {
  return asked(["session", id], "/api/memory/sessions/{session_id}", { path: { session_id: id } });
}
