import { useQuery } from "@tanstack/react-query";
import { Circle, CircleCheck } from "lucide-react";
import { answer, api } from "@/api/client";
import { languageModel } from "@/memory/queries";
import { stored, type Stats } from "@/pages/overview/queries";
import { isByToken, session } from "@/shell/session";
import { useStored } from "@/shell/stored";
import { Button } from "@/ui/Button";
import { Card } from "@/ui/Card";
import { CopyButton } from "@/ui/CopyButton";
import { Code } from "@/ui/EmptyState";

// Where `connect` looks by itself.
const USUAL = "http://127.0.0.1:8150";

// Neither a session nor a context is an event, so that the page asks again while it is looked at.
const REFRESH_MILLISECONDS = 5_000;

const sessions = {
  queryKey: ["sessions", "any"],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    answer(api.GET("/api/memory/sessions", { signal, params: { query: { limit: 1 } } })),
  refetchInterval: REFRESH_MILLISECONDS,
};

const contexts = {
  queryKey: ["contexts", "any"],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    answer(api.GET("/api/memory/contexts", { signal, params: { query: { limit: 1 } } })),
  refetchInterval: REFRESH_MILLISECONDS,
};

/** What to do with a memory that has just begun; each step ticks itself once it was done. */
export default function FirstSteps({ stats }: { stats: Stats }) {
  const { data: model } = useQuery(languageModel);
  const { data: seen } = useQuery(sessions);
  const { data: told } = useQuery(contexts);
  const { data: me } = useQuery(session);
  const [hidden, hide] = useStored("first-steps-hidden", localStorage);
  if (hidden || model === undefined || !seen || !told || !me) return null;
  const elsewhere = location.origin === USUAL ? "" : ` --url ${location.origin}`;
  const byToken = isByToken(me);
  const steps: StepProps[] = [
    {
      title: "Connect an agent",
      done: seen.total > 0,
      say: `It shows what it changes, and asks.${byToken ? " The variable MEMORY_TOKEN holds the agent's token." : ""} Others: codex, cursor, gemini, opencode, vscode, zed. The first session ticks this.`,
      command: `memory-butler connect claude-code${elsewhere}${byToken ? " --token-env MEMORY_TOKEN" : ""}`,
    },
    {
      title: "Store a first memory",
      done: stored(stats) > 0,
      say: "Agents do it while they work; you can from a terminal. Where the server has a --data-dir, so must each command.",
      command: 'memory-butler store-fact user city "Lives in Porto"',
    },
    {
      title: model ? `${model} learns from episodes` : "Choose a model that learns",
      done: model !== null,
      say: "It turns what happened into facts and rules. Set ANTHROPIC_API_KEY or OPENAI_API_KEY and start the server again, or see what else this machine has.",
      command: "memory-butler doctor",
    },
    {
      title: "Ask for a context",
      done: told.receipts.length > 0,
      say: "The block of memory that a session begins with, here as text.",
      command: 'memory-butler context "Plan my week" home',
    },
  ];
  const done = steps.filter((one) => one.done).length;
  return (
    <Card
      title="First steps"
      note={
        done === steps.length
          ? "All done: this memory works."
          : `${done} of ${steps.length} done; to see a memory that is lived with, type memory-butler demo`
      }
      aside={
        <Button small kind="quiet" onClick={() => hide("yes")}>
          Hide
        </Button>
      }
    >
      <ol className="divide-y">
        {steps.map((one) => (
          <Step key={one.command} {...one} />
        ))}
      </ol>
    </Card>
  );
}

interface StepProps {
  title: string;
  done: boolean;
  say: string;
  command: string;
}

function Step({ title, done, say, command }: StepProps) {
  const Icon = done ? CircleCheck : Circle;
  return (
    <li className="flex gap-3 py-3 first:pt-0 last:pb-0">
      <Icon
        className={
          done ? "mt-0.5 size-5 shrink-0 text-good-ink" : "mt-0.5 size-5 shrink-0 text-ink-3"
        }
        aria-hidden
      />
      <div className="min-w-0">
        <p className="font-medium">
          {title}
          {done && <span className="sr-only"> (done)</span>}
        </p>
        {!done && (
          <>
            <p className="mt-0.5 text-sm text-ink-2">{say}</p>
            <p className="mt-1.5 flex flex-wrap items-center gap-x-2">
              <Code>{command}</Code> <CopyButton text={command} what={command} />
            </p>
          </>
        )}
      </div>
    </li>
  );
}
