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

  /** Whether the same request may succeed by itself a little later. */
  get isAway(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503;
  }
}

/** The error of an answer that is none of ours as well: a proxy's page, say. */
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
