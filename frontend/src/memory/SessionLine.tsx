import type { Schemas } from "@/api/client";
import { MemoryLink } from "@/shell/MemoryLink";
import { Badge } from "@/ui/Badge";
import { plural } from "@/ui/format";
import { TimeAgo } from "@/ui/TimeAgo";

export type Session = Schemas["Session"];

/** A session in two lines, known by how it begins; opens what it brought. */
export function SessionLine({ session }: { session: Session }) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <MemoryLink kind="session" id={session.session_id} className="min-w-0 hover:underline">
          <span className="line-clamp-1">
            {session.begins_with || `Session ${session.session_id.slice(0, 8)}`}
          </span>
        </MemoryLink>
        {session.butlers.map((one) => (
          <Badge key={one}>{one}</Badge>
        ))}
        <span className="ml-auto text-xs text-ink-3">
          <TimeAgo at={session.ended_at} />
        </span>
      </div>
      <p className="mt-1 text-sm text-ink-2">{brought(session)}</p>
    </>
  );
}

/** "2 episodes, from which 1 fact came; asked 3 times". */
function brought({ episodes, facts, rules, answers }: Session): string {
  const learned = [
    ...(facts ? [plural(facts, "fact")] : []),
    ...(rules ? [plural(rules, "rule")] : []),
  ].join(" and ");
  const told = learned
    ? `${plural(episodes, "episode")}, from which ${learned} came`
    : plural(episodes, "episode");
  return answers ? `${told}; asked ${plural(answers, "time")}` : told;
}
