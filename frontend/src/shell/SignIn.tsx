import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { answer, api } from "@/api/client";
import { ApiError } from "@/api/problem";
import { isShown, tellOtherTabs } from "@/api/tenant";
import icon from "@/icon.svg";
import { session } from "@/shell/session";
import { Button } from "@/ui/Button";
import { Code } from "@/ui/EmptyState";
import { Field, Input } from "@/ui/Field";

const route = getRouteApi("/sign-in");

/** A token for a cookie; then back to where one was. */
export default function SignIn() {
  const { back } = route.useSearch();
  const router = useRouter();
  // One may have been signed out since the page asked.
  const { data: me } = useQuery({ ...session, staleTime: 0 });
  const signIn = useMutation({
    mutationFn: (token: string) => answer(api.POST("/api/session", { body: { token } })),
    onSuccess: ({ tenant }) => {
      tellOtherTabs();
      // A full load: nothing of another tenant stays in this browser's memory, nor in the address.
      window.location.replace(isShown(tenant) ? back : "/memory");
    },
    // Said beside the field.
    onError: () => undefined,
  });
  const refused = signIn.error instanceof ApiError && signIn.error.status === 401;
  return (
    <div className="flex min-h-dvh items-center justify-center p-4">
      <title>Sign in · Memory Butler</title>
      <main className="w-full max-w-sm rounded-xl border bg-surface p-8 shadow-card">
        <img src={icon} alt="" width={40} height={40} />
        <h1 className="mt-5 text-xl font-semibold tracking-tight">Sign in</h1>
        <p className="mt-1 text-ink-2">
          {me?.signed_in
            ? `You see the memory of the tenant ${me.tenant}. The token of another opens theirs.`
            : "This memory asks for a token."}
        </p>
        <form
          className="mt-6 space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            const token = new FormData(event.currentTarget).get("token");
            if (typeof token === "string" && token.trim()) signIn.mutate(token.trim());
          }}
        >
          <Field
            label="Token"
            error={
              signIn.error
                ? refused
                  ? "That token is not known here, or it has expired."
                  : signIn.error.message
                : undefined
            }
            hint={
              <>
                Made by <Code>memory-butler token create --name you</Code>
              </>
            }
          >
            <Input
              name="token"
              type="password"
              autoComplete="current-password"
              autoFocus
              required
              spellCheck={false}
            />
          </Field>
          <Button type="submit" kind="primary" busy={signIn.isPending} className="w-full">
            Sign in
          </Button>
          {me?.signed_in && (
            <Button kind="quiet" className="w-full" onClick={() => router.history.push(back)}>
              Back to {me.tenant}
            </Button>
          )}
        </form>
      </main>
    </div>
  );
}
