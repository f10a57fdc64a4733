import { Link, useLocation } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { openPalette } from "@/shell/palette";
import { Button, buttonClass } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Page } from "@/ui/Page";

/** No such page, or nothing of that name or id, as the server `said`. */
export function NotFound({ said }: { said?: string }) {
  const { pathname } = useLocation();
  return (
    <Page title="Not found">
      <EmptyState
        icon={Compass}
        title="There is nothing at this address"
        action={
          <>
            <Link to="/memory" className={buttonClass("primary")}>
              Go to the overview
            </Link>
            <Button onClick={openPalette}>Search for it</Button>
          </>
        }
      >
        <p className={said ? "break-words first-letter:uppercase" : "break-all"}>
          {said ?? pathname}
        </p>
        <p className="mt-2">
          It may have been forgotten or merged into another, or the address has a typing error. What
          was once known can be found in the archives of facts and rules.
        </p>
      </EmptyState>
    </Page>
  );
}
