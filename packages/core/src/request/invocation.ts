import { signalOf, type Caller, type Decoded, type EngineRequest, type Op, type Operation, type StorageView } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import type { CoreRequest } from '../kernel/call/core-request.ts';
import type { MountStorage } from '../kernel/mounts/mount-storage.ts';
import { digestOfToken, type Call } from './call.ts';
import { rememberCaller } from '../services/caller/caller-acl.ts';
import { withInternal } from '../services/caller/internal-request.ts';
import type { RequestDeadline } from './request-deadline.ts';

const ENGINES_OF_THE_CORE: ReadonlySet<string> = new Set(['system', 'identity', 'cubbyhole', 'token']);
const NO_HEADERS: EngineRequest['headers'] = {};
const NO_CERTIFICATES: readonly Uint8Array[] = [];
const NO_POLICIES: readonly string[] = [];
const NO_METADATA: Readonly<Record<string, string>> = {};

/** The engine's view of a call. */
export function engineRequest(call: Call, decoded: Decoded, deadline: RequestDeadline, countAs?: EngineRequest['countAs']): EngineRequest {
  const mount = call.mount!;
  const request = new RequestOfEngine(call, decoded, deadline, countAs);
  if (ENGINES_OF_THE_CORE.has(mount.type)) {
    withInternal(request, {
      ...{ request: call.request, token: call.token, identity: call.identity, acl: call.acl },
      replacesStore: () => (call.replacesStore = true),
    });
  }
  if (call.acl && mount.package?.subscribesToSecrets === true) rememberCaller(request, { acl: call.acl, identity: call.identity });
  return request;
}

/** A class, since an object that is written out with getters costs the memory of ten. */
class RequestOfEngine implements EngineRequest {
  readonly id: string;
  readonly operation: Operation;
  readonly path: string;
  readonly verbatim: EngineRequest['verbatim'];
  readonly data: EngineRequest['data'];
  readonly supplied: EngineRequest['supplied'];
  readonly raw: EngineRequest['raw'];
  readonly caller: Caller;
  readonly headers: EngineRequest['headers'];
  declare readonly countAs?: NonNullable<EngineRequest['countAs']>;
  readonly #storage: MountStorage;
  readonly #deadline: RequestDeadline;

  constructor(call: Call, decoded: Decoded, deadline: RequestDeadline, countAs: EngineRequest['countAs']) {
    this.id = call.id;
    this.operation = call.operation as Operation;
    this.path = call.rest;
    this.verbatim = call.match!.verbatim;
    this.data = decoded.data as EngineRequest['data'];
    this.supplied = decoded.supplied as EngineRequest['supplied'];
    this.raw = call.match!.path.declaration.about.exactNumbers === true ? (call.exactData ?? call.data) : call.data;
    this.caller = new CallerOfEngine(call);
    this.headers = call.request.headers ?? NO_HEADERS;
    if (countAs) this.countAs = countAs;
    this.#storage = call.mount!.storage;
    this.#deadline = deadline;
  }

  get storage(): StorageView {
    return this.#storage.ofRequest(this.id);
  }

  get signal(): AbortSignal {
    return signalOf(this.#deadline.signal, this.id);
  }
}

class CallerOfEngine implements Caller {
  readonly displayName: string;
  readonly entityId: string;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly tokenDigest: string;
  readonly accessor: string;
  readonly remoteAddress: string;
  readonly sudo: boolean;
  readonly #request: CoreRequest;

  constructor(call: Call) {
    const { identity } = call;
    this.displayName = identity?.displayName ?? '';
    this.entityId = identity?.entityId ?? '';
    this.policies = identity?.tokenPolicies ?? NO_POLICIES;
    this.metadata = identity?.metadata ?? NO_METADATA;
    this.tokenDigest = digestOfToken(call);
    this.accessor = identity?.accessor ?? '';
    this.remoteAddress = call.remoteAddress;
    this.sudo = call.sudo;
    this.#request = call.request;
  }

  get certificates(): readonly Uint8Array[] {
    return this.#request.certificates ?? NO_CERTIFICATES;
  }
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
