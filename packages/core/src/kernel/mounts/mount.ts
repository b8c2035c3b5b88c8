import {
  runAttributed,
  type CodeOwner,
  type AnyIntent,
  type AnySchedule,
  type AnySecretType,
  type Clock,
  type Engine,
  type EnginePackage,
  type MountInfo,
} from '@strongroom/engine-sdk';
import { SYSTEM_TTL } from './lease-terms.ts';
import { Crowd } from './crowd.ts';
import { Ending } from './ending.ts';
import type { MountRecord } from './mount-record.ts';
import type { MountStorage } from './mount-storage.ts';
import { PathRouter } from './path-router.ts';

/** System-wide limits, in seconds. */
export interface SystemLimits {
  readonly defaultLeaseTtl: number;
  readonly maxLeaseTtl: number;
}

export const systemLimits: SystemLimits = { defaultLeaseTtl: SYSTEM_TTL, maxLeaseTtl: SYSTEM_TTL };

/** A mount with its engine. The record is replaced when it is tuned or moved; everybody else sees that through the getters. */
export class Mount implements MountInfo {
  record: MountRecord;
  readonly package: EnginePackage | undefined;
  /** The engine came from a package that an operator added. */
  readonly external: boolean;
  readonly #system: SystemLimits;
  readonly #view: () => MountStorage;
  #storage: MountStorage;
  #ending = new Ending();
  #requests = new Crowd();
  /** Those that `endRequests` ended, as far as they are still under way. */
  #earlier: readonly Crowd[] = [];
  #changing: Promise<unknown> = Promise.resolve();
  #engine: Engine | undefined;
  #router: PathRouter | undefined;
  /** For a moment no request is let in: the mount is moved, or its engine restarted. */
  paused = false;
  /** Whose the engine's code is; undefined for engines of the core. */
  owner: CodeOwner | undefined;
  /** Why the engine does not run; its requests say so, everything else goes on. */
  quarantine: string | undefined;

  /** `view` opens the mount's part of the store: one for each engine that runs here after another. */
  constructor(
    record: MountRecord,
    pkg: EnginePackage | undefined,
    view: () => MountStorage,
    system: SystemLimits,
    { external = false }: { external?: boolean } = {},
  ) {
    this.record = record;
    this.package = pkg;
    this.external = external;
    this.#view = view;
    this.#storage = view();
    this.#system = system;
  }

  get storage(): MountStorage {
    return this.#storage;
  }
  /** When it is removed or the server is sealed: the signals of its requests are aborted then. */
  get ending(): Ending {
    return this.#ending;
  }

  get path(): string {
    return this.record.path;
  }
  get type(): string {
    return this.record.type;
  }
  get class(): 'secret' | 'auth' {
    return this.record.class;
  }
  get accessor(): string {
    return this.record.accessor;
  }
  get uuid(): string {
    return this.record.uuid;
  }
  get options(): Readonly<Record<string, string>> {
    return this.record.options ?? {};
  }
  get defaultLeaseTtl(): number {
    return Math.min(this.record.config.default_lease_ttl || this.#system.defaultLeaseTtl, this.maxLeaseTtl);
  }
  get maxLeaseTtl(): number {
    return this.record.config.max_lease_ttl || this.#system.maxLeaseTtl;
  }
  /** Made by the server itself below `sys/`: no operator can change it. */
  get ofSystem(): boolean {
    return this.path.startsWith('sys/') && this.path !== 'sys/';
  }
  /** It issues nothing any more, and what hangs on it is being taken back; everything else goes on. */
  get removing(): boolean {
    return this.record.tainted === true;
  }
  get engine(): Engine | undefined {
    return this.#engine;
  }
  /** Follows the engine when it brings other paths, as a tuned one may. */
  get router(): PathRouter | undefined {
    const paths = this.#engine?.paths;
    if (paths !== this.#router?.paths) this.#router = paths && new PathRouter(paths);
    return this.#router;
  }

  /** Whether the lockout counts its logins; assumed of a mount whose engine does not run. */
  get countsLogins(): boolean {
    if (this.class !== 'auth') return false;
    return this.#engine === undefined || this.#engine.paths.some((path) => typeof path.about.login === 'function');
  }

  /** Takes the engine into use; undefined puts it quarantined. */
  use(engine: Engine | undefined): void {
    this.#engine = engine;
    this.#router = engine && new PathRouter(engine.paths);
  }

  /** From here on the previous engine, if it still runs, can neither read nor write. It gets `reason` as the error. */
  renewStorage(reason: Error): void {
    this.#storage.close(reason);
    this.#storage = this.#view();
  }

  /** Carries out a request; who changes the mount can wait until none is under way. */
  serve<T>(request: () => Promise<T>): Promise<T> {
    return this.#requests.serve(request);
  }

  /** The requests under way end with this reason; those that come later are others. */
  endRequests(reason: Error): void {
    const before = this.#ending;
    this.#ending = new Ending();
    this.#earlier = [...this.#earlier, this.#requests].filter((crowd) => crowd.busy);
    this.#requests = new Crowd();
    before.end(reason);
  }

  /** No request is served any more, and the engine, should it still be at work, finds its storage closed. */
  end(reason: Error): void {
    this.#ending.end(reason);
    this.#storage.close(reason);
  }

  /** Resolves when the requests that were ended are gone, or after this many milliseconds. */
  async endedGone(clock: Clock, millis: number): Promise<void> {
    await Promise.all(this.#earlier.map(async (crowd) => crowd.gone(clock, millis)));
  }

  /** Resolves when no request is under way, or after this many milliseconds. */
  async idle(clock: Clock, millis: number): Promise<void> {
    await Promise.all([...this.#earlier, this.#requests].map(async (crowd) => crowd.gone(clock, millis)));
  }

  /** One change of the engine at a time. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#changing.then(work, work);
    this.#changing = mine.catch(() => undefined);
    return mine;
  }

  /** Runs code of the engine: what it leaves running and throws is then known for its own. */
  run<T>(work: () => T): T {
    return this.owner ? runAttributed(this.owner, work) : work();
  }

  secretType(type: string): AnySecretType | undefined {
    return this.#engine?.secrets?.find((secret) => secret.type === type);
  }
  intent(kind: string): AnyIntent | undefined {
    return this.#engine?.intents?.find((intent) => intent.kind === kind);
  }
  schedule(kind: string): AnySchedule | undefined {
    return this.#engine?.schedules?.find((schedule) => schedule.kind === kind);
  }
}
