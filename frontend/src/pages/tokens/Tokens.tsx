import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { NewTokenDialog } from "@/pages/tokens/NewTokenDialog";
import { revokeToken, tokenList, type Token } from "@/pages/tokens/queries";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { TimeAgo } from "@/ui/TimeAgo";
import { toast } from "@/ui/toasts";

export default function Tokens() {
  const { data: tokens } = useQuery(tokenList);
  const [creating, setCreating] = useState(false);
  const [ending, setEnding] = useState<Token>();
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      <Plus /> New token
    </Button>
  );
  return (
    <Page
      title="Tokens"
      lead="Who may use this memory, and what each may do. A secret is shown once, when the token is created."
      actions={create}
    >
      {!tokens ? (
        <SkeletonRows rows={4} className="h-16" />
      ) : tokens.length === 0 ? (
        <EmptyState icon={KeyRound} title="No token yet" action={create}>
          This machine itself needs none by default. Agents and programs elsewhere do: make one for
          each, so that you can end it alone.
        </EmptyState>
      ) : (
        <ul className="divide-y overflow-hidden rounded-xl border bg-surface shadow-card">
          {tokens.map((one) => (
            <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3.5">
              <TokenLine token={one} />
              {!hasEnded(one) && (
                <Button
                  small
                  kind="danger"
                  aria-label={`Revoke ${one.name}`}
                  onClick={() => setEnding(one)}
                >
                  Revoke
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {creating && <NewTokenDialog onClose={() => setCreating(false)} />}
      {ending && <RevokeDialog token={ending} onClose={() => setEnding(undefined)} />}
    </Page>
  );
}

function TokenLine({ token }: { token: Token }) {
  return (
    <>
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-1.5">
          <span className="memory-text font-medium">{token.name}</span>
          {token.revoked_at ? (
            <Badge tone="bad">revoked</Badge>
          ) : (
            hasEnded(token) && <Badge tone="warn">expired</Badge>
          )}
        </p>
        <p className="mt-1 flex flex-wrap gap-1.5">
          {token.scopes.map((scope) => (
            <Badge key={scope} tone={scope === "admin" ? "accent" : "neutral"}>
              {scope}
            </Badge>
          ))}
        </p>
      </div>
      <dl className="grid grid-cols-[auto_auto] gap-x-3 text-sm text-ink-2">
        <dt className="text-ink-3">made</dt>
        <dd>
          <TimeAgo at={token.created_at} />
        </dd>
        <dt className="text-ink-3">last used</dt>
        <dd>
          <TimeAgo at={token.last_used_at} />
        </dd>
        <dt className="text-ink-3">{token.revoked_at ? "revoked" : "expires"}</dt>
        <dd>
          <TimeAgo at={token.revoked_at ?? token.expires_at} never="never" />
        </dd>
      </dl>
    </>
  );
}

function hasEnded({ revoked_at, expires_at }: Token): boolean {
  return revoked_at !== null || (expires_at !== null && new Date(expires_at) <= new Date());
}

/** Asked first, because nothing brings a token back. */
function RevokeDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeToken(token.id),
    onSuccess: async () => {
      onClose();
      toast(`Revoked ${token.name}`);
      await queries.invalidateQueries({ queryKey: tokenList.queryKey });
    },
  });
  return (
    <Dialog
      onClose={onClose}
      busy={revoke.isPending}
      title={`Revoke ${token.name}?`}
      actions={
        <>
          <Button disabled={revoke.isPending} onClick={onClose}>
            Keep it
          </Button>
          <Button kind="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
            Revoke
          </Button>
        </>
      }
    >
      <p className="text-ink-2">
        Whoever uses it is refused from the next request on. A token cannot be brought back; you can
        make another.
      </p>
      {revoke.error && (
        <p role="alert" className="mt-3 text-bad-ink">
          {revoke.error.message}
        </p>
      )}
    </Dialog>
  );
}
