import type { Core, CoreOptions, CoreRequest, CoreResponse, RequestOperation } from '@strongroom/core';
import type { EnginePackage, Log, Plugin } from '@strongroom/engine-sdk';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { checkedCore } from './checked-core.ts';
import { manualClock, type ManualClock } from './manual-clock.ts';

/** The same for every test, so that a second core opens what a first one stored. */
const SEAL_KEY = Buffer.alloc(32, 1);

/** How the engine is mounted, and what else the core is given. */
export interface TestMountOptions {
  /** Where the engine is mounted: its name by default, `auth/<name>` for login methods, its own place for one of the server's. */
  readonly path?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly clock?: ManualClock;
  readonly log?: Log;
  /** How processes on one store know of each other's ends. By default they do not. */
  readonly liveness?: CoreOptions['liveness'];
  /** Others that the engine uses, such as database plugins. */
  readonly plugins?: readonly Plugin[];
  /**
   * A store that outlives the core: for tests of a restart, or of several processes. One that was used before opens with its mount,
   * its tokens and its leases.
   */
  readonly storage?: StorageDriver;
}

/** What a call carries beside its operation and path. */
export interface Call {
  readonly data?: Readonly<Record<string, unknown>>;
  /** The same data with its exact numbers, where it has any. */
  readonly exactData?: Readonly<Record<string, unknown>>;
  /** The root token by default; '' for none. */
  readonly token?: string;
  readonly wrapTtl?: number;
  readonly remoteAddress?: string;
  /** What the caller has shown, in DER. */
  readonly certificates?: readonly Uint8Array[];
}

/** An engine mounted in a whole core over memory, with the clock in the test's hand. */
export interface TestMount {
  readonly core: Core;
  readonly clock: ManualClock;
  readonly rootToken: string;
  readonly path: string;
  /** Any call; the path is from the root. Throws only when an operation answers otherwise than it declares. */
  call(operation: RequestOperation, path: string, call?: Call): Promise<CoreResponse>;
  /** Calls below the mount. They throw an Error with the answer's texts when the call fails. */
  read(path: string, data?: Call['data']): Promise<CoreResponse>;
  list(path: string, data?: Call['data']): Promise<CoreResponse>;
  write(path: string, data?: Call['data']): Promise<CoreResponse>;
  patch(path: string, data?: Call['data']): Promise<CoreResponse>;
  delete(path: string, data?: Call['data']): Promise<CoreResponse>;
  /** Moves the clock and waits until all that became due is processed. Work that hangs holds it up: move `clock` itself then. */
  advance(by: string | number): Promise<void>;
  close(): Promise<void>;
}

/** A failed call, as the convenience calls throw it. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly response: CoreResponse;
  constructor(operation: string, path: string, response: CoreResponse) {
    super(`${operation} ${path}: ${response.status} ${(response.errors ?? []).join('; ')}`);
    this.response = response;
  }
}

/** Mounts an engine in a core of its own, in memory by default. */
export async function mountForTest(engine: EnginePackage, options: TestMountOptions = {}): Promise<TestMount> {
  const clock = options.clock ?? manualClock();
  const rootToken = 'root';
  const core = await checkedCore({
    storage: options.storage ?? memoryStorage(),
    plugins: [engine, ...(options.plugins ?? [])],
    clock,
    seal: { type: 'static', key: SEAL_KEY },
    // Its clock stands still: no process is presumed dead, and none says that it lives.
    liveness: options.liveness ?? { clock: manualClock() },
    ...(options.log ? { log: options.log } : {}),
  });
  if (!(await core.initialized())) await core.openForDevelopment(rootToken);
  const path = (options.path ?? engine.system?.path ?? (engine.kind === 'auth' ? `auth/${engine.name}` : engine.name)).replace(/\/$/, '');
  const call = async (operation: RequestOperation, at: string, { token = rootToken, ...rest }: Call = {}): Promise<CoreResponse> => {
    const request: CoreRequest = { operation, path: at, remoteAddress: '127.0.0.1', ...rest, ...(token === '' ? {} : { token }) };
    return core.handle(request);
  };
  const checked = async (operation: RequestOperation, at: string, data?: Call['data']): Promise<CoreResponse> => {
    const response = await call(operation, at, data ? { data } : {});
    if (response.errors || response.status >= 400) throw new CallFailed(operation, at, response);
    return response;
  };
  const below = (operation: RequestOperation) => async (at: string, data?: Call['data']) => checked(operation, `${path}/${at}`, data);
  const before = await checked('read', engine.kind === 'auth' ? 'sys/auth' : 'sys/mounts');
  const name = engine.kind === 'auth' ? path.slice('auth/'.length) : path;
  const known = engine.system !== undefined || Object.hasOwn(before.data as object, `${name}/`);
  if (!known)
    await checked('update', engine.kind === 'auth' ? `sys/auth/${name}` : `sys/mounts/${path}`, {
      type: engine.name,
      ...(options.options ? { options: options.options } : {}),
      ...(options.config ? { config: options.config } : {}),
    });
  return {
    core,
    clock,
    rootToken,
    path,
    call,
    read: below('read'),
    list: below('list'),
    write: below('update'),
    patch: below('patch'),
    delete: below('delete'),
    advance: async (by) => {
      await clock.advance(by);
      await core.settleSchedule();
    },
    close: async () => core.close(),
  };
}
