/** The memory, entity or session whose drawer lies over a page: `?open=fact:<id>`, on every page. */
export type Opened = `${OpenedKind}:${string}`;
export type OpenedKind = "fact" | "rule" | "episode" | "entity" | "session";

const SHAPE = /^(fact|rule|episode|entity|session):[0-9a-f-]{36}$/;

export function parseOpened(value: unknown): Opened | undefined {
  return typeof value === "string" && SHAPE.test(value) ? (value as Opened) : undefined;
}

export function splitOpened(opened: Opened): { kind: OpenedKind; id: string } {
  const [kind, id] = opened.split(":") as [OpenedKind, string];
  return { kind, id };
}
