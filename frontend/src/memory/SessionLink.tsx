import { MemoryLink } from "@/shell/MemoryLink";

/** The session of something by the start of its id, or what is said where there is `none`. */
export function SessionLink({ id, none }: { id: string | null; none: string }) {
  if (!id) return none;
  return (
    <MemoryLink kind="session" id={id}>
      {id.slice(0, 8)}
    </MemoryLink>
  );
}
