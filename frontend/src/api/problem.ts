/** A refusal of the server (RFC 9457), or that it could not be reached. */
export class ApiError extends Error {
  constructor(
    /** Of HTTP; 0 where no answer came. */
    readonly status: number,
    /** Stable, from the server's error tree; "unreachable" where no answer came. */
    readonly code: string,
    /** Says what to do, in words for a person. */
    detail: string,
    /** The whole answer: a conflict carries the other's version. */
    readonly body: unknown = null,
  ) {
    super(detail);
    this.name = "ApiError";
  }

  /** Whether somebody else is asked for, or nobody: no fault of the page. */
  get isOfAnother(): boolean {
    return this.status === 401 || this.code === "other_tenant";
  }

  /** Whether the same request may succeed by itself a little later. */
  get isAway(): boolean {
    // What is not configured, such as a language model, does not come by itself.
    if (this.code === "configuration") return false;
    return this.status === 0 || this.status === 502 || this.status === 503;
  }
}

/** The error of an answer, also of one that is not ours: a proxy's page, for example. */
export async function problemOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const said = typeof body === "object" && body !== null ? body : {};
  const text = (key: string) => {
    const value: unknown = Reflect.get(said, key);
    return typeof value === "string" && value ? value : undefined;
  };
  const detail = text("detail") ?? `The server answered ${response.status}.`;
  return new ApiError(response.status, text("code") ?? "unknown", detail, body);
}

/** What an edit that came too late met: the other's version, and the revision to edit it by. */
export interface Stale<Memory> {
  current: Memory;
  revision: string;
}

/** The version that holds now, where the refusal was that somebody else was faster. */
export function staleOf<Memory>(error: unknown): Stale<Memory> | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const body = error.body as { current?: Memory | null; current_revision?: string | null } | null;
  if (!body?.current || !body.current_revision) return undefined;
  return { current: body.current, revision: body.current_revision };
}
