import { CatchBoundary, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, type ComponentType } from "react";
import { arriving } from "@/api/arriving";
import { splitOpened, type OpenedKind } from "@/shell/opened";

export interface MemoryDrawerProps {
  id: string;
  onClose: () => void;
}

const FailedDrawer = lazy(arriving(() => import("@/shell/FailedDrawer")));

// Each comes when the first of its kind is opened.
const DRAWERS: Record<OpenedKind, ComponentType<MemoryDrawerProps>> = {
  fact: lazy(arriving(() => import("@/pages/facts/FactDrawer"))),
  rule: lazy(arriving(() => import("@/pages/rules/RuleDrawer"))),
  entity: lazy(arriving(() => import("@/pages/entities/EntityDrawer"))),
  episode: lazy(arriving(() => import("@/pages/episodes/EpisodeDrawer"))),
  session: lazy(arriving(() => import("@/pages/sessions/SessionDrawer"))),
};

/** The drawer of the memory that the URL names (`?open=fact:<id>`), over whatever page it is. */
export function Drawers() {
  const { open } = useSearch({ from: "__root__" });
  const navigate = useNavigate();
  if (!open) return null;
  const { kind, id } = splitOpened(open);
  const Drawer = DRAWERS[kind];
  const close = () =>
    void navigate({
      to: ".",
      search: (now) => ({ ...now, open: undefined }),
      resetScroll: false,
    });
  return (
    <CatchBoundary
      getResetKey={() => open}
      errorComponent={({ error }) => <FailedDrawer kind={kind} error={error} onClose={close} />}
    >
      <Suspense>
        <Drawer key={open} id={id} onClose={close} />
      </Suspense>
    </CatchBoundary>
  );
}
