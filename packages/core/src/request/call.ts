import { createHash } from 'node:crypto';
import type { StreamedBody } from '@strongroom/engine-sdk';
import type { Mount } from '../kernel/mounts/mount.ts';
import type { PathMatch, PathFolds } from '../kernel/mounts/path-router.ts';
import type { Acl } from '../services/policies/acl.ts';
import type { KeysFilter } from '../services/policies/keys-filter.ts';
import type { FoundToken } from '../services/tokens/token-store.ts';
import type { CallerIdentity } from '../services/caller/caller-identity.ts';
import type { CoreRequest, RequestOperation } from '../kernel/call/core-request.ts';

/** A call on its way through the pipeline: each step fills in its part, in the order of `pipeline.ts`. */
export interface Call {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly request: CoreRequest;
  readonly data: Readonly<Record<string, unknown>>;
  /** The data with exact numbers, where it has any. */
  readonly exactData: Readonly<Record<string, unknown>> | undefined;
  readonly remoteAddress: string;
  /** Whole seconds that the wrapping token of the answer lives; 0 for an answer that is not wrapped. */
  wrapTtl: number;
  operation: RequestOperation;
  /** Canonical from admission and routing on. */
  path: string;
  /** What the caller presented, or what stands for it on the unwrapping path. */
  bearer: string | undefined;
  mount: Mount | undefined;
  /** Below the mount. */
  rest: string;
  match: PathMatch | undefined;
  /** How the segments of `path` fold; see canonical-path.ts. */
  folds: PathFolds | undefined;
  token: FoundToken | undefined;
  identity: CallerIdentity | undefined;
  acl: Acl | undefined;
  grantingPolicies: readonly string[];
  allowed: boolean | undefined;
  /** The deciding rule grants `sudo`. */
  sudo: boolean;
  /** Most keys that the policy lets a list answer with; 0 for all. */
  pageLimit: number;
  /** What the policy hides of a list. */
  keysFilters: readonly KeysFilter[];
  /** The audit devices have the request. */
  requestAudited: boolean;
  /** The token's last use: it ends with this call. */
  lastUse: boolean;
  /** For the answer, whatever becomes of the call. */
  headers: Readonly<Record<string, string>> | undefined;
  /** The body that the handler made to be streamed. Whoever ends the call cancels it where it is not answered. */
  stream: StreamedBody | undefined;
  /** The call itself replaces the store. */
  replacesStore: boolean;
  /** The call was answered: what a handler makes from now on reaches nobody. */
  answered: boolean;
}

export function newCall(id: string, request: CoreRequest, began: number): Call {
  return {
    id,
    began,
    request,
    data: request.data ?? {},
    exactData: request.exactData,
    remoteAddress: request.remoteAddress ?? '',
    wrapTtl: 0,
    operation: request.operation,
    path: request.path,
    bearer: request.token === '' ? undefined : request.token,
    mount: undefined,
    rest: '',
    match: undefined,
    folds: undefined,
    token: undefined,
    identity: undefined,
    acl: undefined,
    grantingPolicies: [],
    allowed: undefined,
    sudo: false,
    pageLimit: 0,
    keysFilters: [],
    requestAudited: false,
    lastUse: false,
    headers: undefined,
    stream: undefined,
    replacesStore: false,
    answered: false,
  };
}

/** '' without a token. Batch tokens are stored nowhere and go by a digest of their own text. */
export function digestOfToken(call: Pick<Call, 'token' | 'bearer'>): string {
  if (!call.token) return '';
  return call.token.type === 'service'
    ? call.token.digest
    : createHash('sha256')
        .update(call.bearer ?? '')
        .digest('base64url');
}
