import type { EngineRequest, EngineResponse } from '@strongroom/engine-sdk';
import type { Acl } from '../policies/acl.ts';
import type { FoundToken } from '../tokens/token-store.ts';
import type { CallerIdentity } from './caller-identity.ts';
import type { CoreRequest } from '../../kernel/call/core-request.ts';
import type { CoreResponse } from '../../kernel/call/core-response.ts';

/** What the core's own engines see beyond what any engine sees. Undefined parts: the path is open and nobody called. */
export interface Internal {
  readonly request: CoreRequest;
  readonly token: FoundToken | undefined;
  readonly identity: CallerIdentity | undefined;
  readonly acl: Acl | undefined;
  /** From now on the call itself puts another store in the place of this one: its answer counts, although everything has changed. */
  replacesStore(): void;
}

const INTERNAL = Symbol('internal request');
const REPLY = Symbol('internal reply');

export function withInternal<R extends object>(request: R, internal: Internal): R {
  return Object.assign(request, { [INTERNAL]: internal });
}

export function internalOf(request: EngineRequest<never> | object): Internal {
  const internal = (request as { [INTERNAL]?: Internal })[INTERNAL];
  if (!internal) throw new Error('only the engines of the core see this');
  return internal;
}

/** An answer that sets parts of the envelope itself: a token's `auth`, a renewed lease, what was unwrapped. */
export function reply(parts: Partial<CoreResponse>): EngineResponse<never> {
  return { [REPLY]: parts } as EngineResponse<never>;
}

export function replyOf(response: object): Partial<CoreResponse> | undefined {
  return (response as { [REPLY]?: Partial<CoreResponse> })[REPLY];
}
