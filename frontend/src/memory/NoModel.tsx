import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { languageModel } from "@/memory/queries";
import { session } from "@/shell/session";
import { CopyButton } from "@/ui/CopyButton";
import { Code } from "@/ui/EmptyState";

const DOCTOR = "memory-butler doctor";

/** Where episodes wait and no model will read them: that it is so, and what to type. */
export function NoModel() {
  const { data: model } = useQuery(languageModel);
  const { data: me } = useQuery(session);
  if (model !== null || !me) return null;
  return (
    <div className="my-4 last:mb-0 flex items-start gap-2.5 rounded-lg bg-warn-soft px-3.5 py-2.5 text-sm text-warn-ink">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      {me.demo ? (
        <p>
          <b className="font-semibold">No model: nothing will be learned.</b> A demonstration asks
          none, so that these episodes stay as they are.
        </p>
      ) : (
        <div className="min-w-0">
          <p>
            <b className="font-semibold">No model: nothing will be learned.</b> Episodes expire
            unread. Start the server with <Code>ANTHROPIC_API_KEY</Code> or{" "}
            <Code>OPENAI_API_KEY</Code> set. For what else this machine has, type
          </p>
          <p className="mt-1.5 flex flex-wrap items-center gap-x-2">
            <Code>{DOCTOR}</Code> <CopyButton text={DOCTOR} what={DOCTOR} />
          </p>
        </div>
      )}
    </div>
  );
}
