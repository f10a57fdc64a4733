import { queryOptions } from "@tanstack/react-query";
import { answer, api, asked, type Schemas } from "@/api/client";

export type Token = Schemas["Token"];
export type CreatedToken = Schemas["CreatedToken"];
export type Scope = Token["scopes"][number];

export const tokenList = queryOptions({
  ...asked(["tokens"], "/api/tokens"),
  select: ({ tokens }) => tokens.toReversed(),
});

export interface NewToken {
  name: string;
  scopes: Scope[];
  /** How long it is good; undefined is for ever. */
  days: number | undefined;
}

export function createToken({ name, scopes, days }: NewToken): Promise<CreatedToken> {
  return answer(api.POST("/api/tokens", { body: { name, scopes, days: days ?? null } }));
}

export function revokeToken(id: string) {
  return answer(api.DELETE("/api/tokens/{token_id}", { params: { path: { token_id: id } } }));
}
