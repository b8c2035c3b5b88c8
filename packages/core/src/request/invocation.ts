import { signalOf, type Caller, type Decoded, type EngineRequest, type Op, type Operation } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import { digestOfToken, type Call } from './call.ts';
import { rememberAcl } from '../services/caller/caller-acl.ts';
import { withInternal } from '../services/caller/internal-request.ts';
import type { RequestDeadline } from './request-deadline.ts';

const ENGINES_OF_THE_CORE: ReadonlySet<string> = new Set(['system', 'identity', 'cubbyhole', 'token']);
const NO_HEADERS: EngineRequest['headers'] = {};
const NO_CERTIFICATES: readonly Uint8Array[] = [];

/** The engine's view of a call. */
export function engineRequest(call: Call, decoded: Decoded, deadline: RequestDeadline, countAs?: EngineRequest['countAs']): EngineRequest {
  const mount = call.mount!;
  const { storage } = mount;
  const request: { -readonly [K in keyof EngineRequest]: EngineRequest[K] } = {
    id: call.id,
    operation: call.operation as Operation,
    path: call.rest,
    verbatim: call.match!.verbatim,
    data: decoded.data as EngineRequest['data'],
    supplied: decoded.supplied as EngineRequest['supplied'],
    raw: call.match?.path.declaration.about.exactNumbers === true ? (call.exactData ?? call.data) : call.data,
    get storage() {
      return storage.ofRequest(call.id);
    },
    caller: callerOf(call),
    headers: call.request.headers ?? NO_HEADERS,
    get signal() {
      return signalOf(deadline.signal, call.id);
    },
    ...(countAs ? { countAs } : {}),
  };
  if (ENGINES_OF_THE_CORE.has(mount.type)) {
    withInternal(request, {
      ...{ request: call.request, token: call.token, identity: call.identity, acl: call.acl },
      replacesStore: () => (call.replacesStore = true),
    });
  }
  if (call.acl && mount.package?.subscribesToSecrets === true) rememberAcl(request, call.acl);
  return request;
}

function callerOf(call: Call): Caller {
  const { identity } = call;
  return {
    displayName: identity?.displayName ?? '',
    entityId: identity?.entityId ?? '',
    policies: identity?.tokenPolicies ?? [],
    metadata: identity?.metadata ?? {},
    tokenDigest: digestOfToken(call),
    accessor: identity?.accessor ?? '',
    remoteAddress: call.remoteAddress,
    get certificates() {
      return call.request.certificates ?? NO_CERTIFICATES;
    },
    sudo: call.sudo,
  };
}

/** What the path does for the operation; undefined where it does not offer it. */
export function operationOf(call: Call): Op<TProperties, TSchema> | undefined {
  const { operations } = call.match!.path.declaration;
  switch (call.operation) {
    case 'help':
    case 'header':
      return undefined;
    case 'create':
      return operations.update;
    default:
      return operations[call.operation];
  }
}
