import { createRoute, redirect } from "@tanstack/react-router";
import { ask } from "@/pages/ask/route";
import { entities } from "@/pages/entities/route";
import { butler, butlerMemory, butlers } from "@/pages/butlers/route";
import { chat } from "@/pages/chat/route";
import { changes } from "@/pages/changes/route";
import { conflicts, inbox } from "@/pages/inbox/route";
import { contexts } from "@/pages/contexts/route";
import { episodes } from "@/pages/episodes/route";
import { facts } from "@/pages/facts/route";
import { playground } from "@/pages/playground/route";
import { jobs } from "@/pages/jobs/route";
import { journal } from "@/pages/journal/route";
import { map } from "@/pages/map/route";
import { overview } from "@/pages/overview/route";
import { rules } from "@/pages/rules/route";
import { sessions } from "@/pages/sessions/route";
import { timeline } from "@/pages/timeline/route";
import { tokens } from "@/pages/tokens/route";
import { page } from "@/shell/page";
import { root } from "@/shell/root";

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/memory" });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  // Where one was; never another site.
  validateSearch: ({ back }: Record<string, unknown>): { back: string } => ({
    back: typeof back === "string" && /^\/(?![/\\])/.test(back) ? back : "/memory",
  }),
  component: page(() => import("@/shell/SignIn")),
});

/** Every page; each brings its own route from its folder. */
export const routes = root.addChildren([
  start,
  signIn,
  overview,
  ask,
  facts,
  rules,
  entities,
  map,
  inbox,
  conflicts,
  episodes,
  sessions,
  timeline,
  changes,
  playground,
  contexts,
  butlers,
  butler,
  butlerMemory,
  chat,
  journal,
  jobs,
  tokens,
]);
