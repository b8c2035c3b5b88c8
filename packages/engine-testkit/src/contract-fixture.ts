import { UpstreamFailed, type AnyPath, type Engine, type EnginePackage } from '@strongroom/engine-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import type { EngineContract } from './engine-contract.ts';
import { callsOf, type KnownNames } from './garbage.ts';
import { mountForTest, type TestMount } from './mount-for-test.ts';
import { sharedMemory } from './shared-memory.ts';

/** One case's engine, mounted when the case asks for it, and everything closed afterwards. */
export class Fixture {
  readonly engine: EnginePackage;
  /** Names that `prepare` left, by capture; empty before. */
  prepared: KnownNames = {};
  readonly #contract: EngineContract;
  readonly #store = sharedMemory();
  readonly #built: Engine[] = [];
  #raw: StorageDriver | undefined;
  #mount: TestMount | undefined;
  #uuid = '';
  #unrevocable = false;

  constructor(contract: EngineContract) {
    this.#contract = contract;
    this.engine = {
      ...contract.engine,
      create: (host) => {
        const engine = contract.engine.create(host);
        this.#built.push(engine);
        return this.#unrevocable ? withoutRevocation(engine) : engine;
      },
    };
  }

  async mount(): Promise<TestMount> {
    const { path, options, plugins, clock } = this.#contract;
    this.#mount ??= await mountForTest(this.engine, {
      storage: this.#store.open(),
      ...(path === undefined ? {} : { path }),
      ...(options ? { options } : {}),
      ...(plugins ? { plugins } : {}),
      ...(clock ? { clock: clock() } : {}),
    });
    const place = this.engine.kind === 'auth' ? 'sys/auth' : 'sys/mounts';
    const name = this.engine.kind === 'auth' ? this.#mount.path.slice('auth/'.length) : this.#mount.path;
    const table = (await this.#mount.call('read', place)).data as Record<string, { uuid: string }>;
    // A mount of the server itself is in no list.
    this.#uuid = table[`${name}/`]?.uuid ?? '';
    return this.#mount;
  }

  /** From the next mount on no lease can be revoked, as while an outside system is down. */
  breakRevocations(): void {
    this.#unrevocable = true;
  }

  /** What the contract says that the mount in use has outside. */
  get leavesOutside(): NonNullable<EngineContract['leavesOutside']> {
    return this.#contract.leavesOutside ?? [];
  }

  async mountInUse(): Promise<TestMount> {
    const mount = await this.mount();
    this.prepared = (await this.#contract.prepare(mount)) ?? {};
    return mount;
  }

  /** Path of a second mount of the same engine. */
  async mountBeside(): Promise<string> {
    const mount = await this.mount();
    const path = `${mount.path}-beside`;
    const place = this.engine.kind === 'auth' ? `sys/${path}` : `sys/mounts/${path}`;
    const { options } = this.#contract;
    const made = await mount.call('update', place, { data: { type: this.engine.name, ...(options ? { options } : {}) } });
    if (made.errors) throw new Error(`a second mount: ${made.errors.join('; ')}`);
    return path;
  }

  /** The engine of a mount that was never prepared. */
  async build(): Promise<Engine> {
    await this.mount();
    return this.#built[0]!;
  }

  async paths(): Promise<readonly AnyPath[]> {
    return (await this.build()).paths;
  }

  uuid(): string {
    return this.#uuid;
  }

  async keys(): Promise<string[]> {
    this.#raw ??= this.#store.open();
    return (await this.#raw.range({ keysOnly: true })).map(({ key }) => key);
  }

  /** Each path with the names that are known, or with an ordinary one where none is. */
  examples(paths: readonly AnyPath[]): { path: AnyPath; at: string }[] {
    return paths.flatMap((path) => {
      const names = [...path.pattern.matchAll(/\{(\w+)(?::\w+)?\}/g)].map(([, name]) => name!);
      const known = names.map((name) => this.prepared[name] ?? []);
      if (names.length === 0 || known.some((list) => list.length === 0)) return [{ path, at: callsOf(path).path }];
      const count = Math.max(...known.map((list) => list.length));
      return Array.from({ length: count }, (_, index) => {
        let at = 0;
        return { path, at: path.pattern.replace(/\{\w+(?::\w+)?\}/g, () => known[at]![index % known[at++]!.length]!) };
      });
    });
  }

  reachesOutside(path: AnyPath): boolean {
    return this.#contract.outside?.includes(path.pattern) === true;
  }

  hasEffect(path: AnyPath): boolean {
    return this.#contract.readsWithEffect?.includes(path.pattern) === true;
  }

  async close(): Promise<void> {
    await this.#mount?.close();
  }
}

function withoutRevocation(engine: Engine): Engine {
  const revoke = async (): Promise<never> => {
    throw new UpstreamFailed('the contract keeps this lease from being revoked');
  };
  return new Proxy(engine, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'secrets') return engine.secrets?.map((secret) => Object.assign(Object.create(secret) as typeof secret, { revoke }));
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
