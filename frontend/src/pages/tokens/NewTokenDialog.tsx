import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createToken, tokenList, type CreatedToken, type Scope } from "@/pages/tokens/queries";
import { useUnsaved } from "@/shell/change";
import { CopyButton } from "@/ui/CopyButton";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Input, Select } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";

const SCOPES: readonly { scope: Scope; means: string }[] = [
  { scope: "read", means: "search, recall and look at everything" },
  { scope: "write", means: "store, correct, confirm and forget" },
  { scope: "admin", means: "run jobs, merge entities, make tokens" },
];

const LIFETIMES = [
  { value: "1", label: "In a day" },
  { value: "30", label: "In 30 days" },
  { value: "365", label: "In a year" },
] as const;

/** Makes a token, then shows its secret, once. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: createToken,
    onSuccess: () => queries.invalidateQueries({ queryKey: tokenList.queryKey }),
  });
  if (create.data) return <Secret made={create.data} onClose={onClose} />;
  return (
    <NewToken
      busy={create.isPending}
      error={create.error?.message}
      onCreate={create.mutate}
      onClose={onClose}
    />
  );
}

interface NewTokenProps {
  busy: boolean;
  error: string | undefined;
  onCreate: (token: Parameters<typeof createToken>[0]) => void;
  onClose: () => void;
}

function NewToken({ busy, error, onCreate, onClose }: NewTokenProps) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["read", "write"]);
  const [days, setDays] = useState<(typeof LIFETIMES)[number]["value"]>();
  const leave = useUnsaved(name !== "", busy);
  const isReady = name.trim() !== "" && scopes.length > 0;
  const give = (scope: Scope, given: boolean) =>
    setScopes((now) => (given ? [...now, scope] : now.filter((one) => one !== scope)));
  return (
    <FormDialog
      onClose={() => leave(onClose)}
      title="New token"
      submit="Create"
      onSubmit={() =>
        isReady && onCreate({ name: name.trim(), scopes, days: days && Number(days) })
      }
      busy={busy}
      disabled={!isReady}
      refusal={error}
    >
      <Field label="Name" hint="Who it is for; events show it as the actor.">
        <Input value={name} onChange={(event) => setName(event.target.value)} maxLength={200} />
      </Field>
      <fieldset>
        <legend className="mb-1.5 text-sm font-medium">May</legend>
        {SCOPES.map(({ scope, means }) => (
          <label key={scope} className="flex items-baseline gap-2 py-1">
            <input
              type="checkbox"
              className="accent-accent"
              checked={scopes.includes(scope)}
              onChange={(event) => give(scope, event.target.checked)}
            />
            <span>
              <span className="font-medium">{scope}</span>{" "}
              <span className="text-ink-2">{means}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Field label="Expires">
        <Select label="Expires" any="Never" value={days} onChange={setDays} options={LIFETIMES} />
      </Field>
    </FormDialog>
  );
}

function Secret({ made, onClose }: { made: CreatedToken; onClose: () => void }) {
  useUnsaved(true, false, "Leave without the token? Nobody can read it again.");
  return (
    <Dialog
      onClose={onClose}
      title={`The token of ${made.name}`}
      holds="secret"
      actions={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <p className="text-ink-2">Copy it now: nobody can read it again, here or in the database.</p>
      <div className="mt-3 flex items-center gap-2 rounded-md bg-sunken p-3">
        <code className="min-w-0 flex-1 font-mono text-sm break-all">{made.token}</code>
        <CopyButton text={made.token} />
      </div>
    </Dialog>
  );
}
