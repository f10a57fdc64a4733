import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { Link, useLocation, type ErrorComponentProps } from "@tanstack/react-router";
import { Bug, Lock } from "lucide-react";
import { useEffect } from "react";
import { ApiError } from "@/api/problem";
import { NotFound } from "@/shell/NotFound";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";

/** A page that could not be shown; the shell around it stays. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  useNewAttempt();
  if (error instanceof ApiError && error.status === 404) return <NotFound said={error.message} />;
  if (error instanceof ApiError && error.code === "permission_denied")
    return <NotAllowed said={error.message} />;
  const isApi = error instanceof ApiError;
  return (
    <Page title="Something went wrong">
      <EmptyState
        icon={Bug}
        title={isApi ? "The server refused" : "This page failed to show"}
        action={
          <>
            <Button kind="primary" onClick={reset}>
              Try again
            </Button>
            <Button onClick={() => window.location.reload()}>Reload</Button>
          </>
        }
      >
        <p className="break-words">{error instanceof Error ? error.message : String(error)}</p>
        {!isApi && (
          <p className="mt-2">
            Nothing was lost: this is the page&rsquo;s fault, not the memory&rsquo;s.
          </p>
        )}
      </EmptyState>
    </Page>
  );
}

function NotAllowed({ said }: { said: string }) {
  const { href } = useLocation();
  return (
    <Page title="Not allowed">
      <EmptyState
        icon={Lock}
        title="Your token does not allow this page"
        action={
          <Link to="/sign-in" search={{ back: href }} className={buttonClass("primary")}>
            Sign in with another
          </Link>
        }
      >
        <p className="break-words">{said}</p>
      </EmptyState>
    </Page>
  );
}

/** Whoever asks next, by pressing a button or coming back, asks the server and not the error's memory. */
export function useNewAttempt(): void {
  const boundary = useQueryErrorResetBoundary();
  useEffect(() => boundary.reset(), [boundary]);
}
