import { Unavailable, waitAtMost } from '@strongroom/engine-sdk';
import { MIGRATION } from '../kernel/barrier/barrier.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { VERSION } from '../kernel/version.ts';
import { Opening } from '../services/seal/opening.ts';
import { SealNotOpened, type InitOrder, type InitResult, type OpeningResult } from '../services/seal/seal.ts';
import type { Services } from '../services/services.ts';
import { CacheInvalidation, type CacheOwner } from './cache-invalidation.ts';
import { Housekeeping } from './housekeeping.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { createRootToken } from './root-token.ts';
import { SealInStep, type SealOwner } from './seal-in-step.ts';

const MIGRATING =
  'the store is locked by strongroom operator migrate; if that was killed, remove the lock with strongroom operator migrate -reset';
/** So long a start waits for the seals. A server that waited on would answer nobody, not even that it is sealed. Milliseconds. */
const FIRST_TRY = 5_000;
/** How long the end of scheduled work is waited for; milliseconds. */
const LAST_WORK = 5_000;

/** Initializes, opens, seals and closes the server. One such change at a time. */
export class Lifecycle {
  readonly #kernel: Kernel;
  readonly #services: Services;
  readonly #clusterName: string | undefined;
  readonly #changes = new OneAtATime();
  readonly #opening: Opening;
  readonly #housekeeping: Housekeeping;
  readonly #caches: CacheInvalidation;
  readonly #step: SealInStep;
  readonly #unsubscribe: () => void;
  #open = false;
  #starting = false;
  #sealedByHand = false;
  #closed = false;

  constructor(kernel: Kernel, services: Services, clusterName: string | undefined) {
    this.#kernel = kernel;
    this.#services = services;
    this.#clusterName = clusterName;
    this.#opening = new Opening({
      clock: kernel.livenessClock,
      log: kernel.log,
      open: async () => this.#tryToOpen(),
    });
    this.#housekeeping = new Housekeeping({ ...kernel, ...services });
    this.#caches = new CacheInvalidation(kernel, services, this.#asOwner());
    this.#unsubscribe = this.#caches.subscribe();
    this.#step = new SealInStep(kernel.siblings, services.seal, this.#asSealOwner());
  }

  get open(): boolean {
    return this.#open;
  }

  /** Why a seal that opens by itself has not; undefined where nothing keeps it from it. Open to everybody. `recoveryKeys`: whether there are any. */
  openingProblem(recoveryKeys: boolean): string | undefined {
    if (this.#opening.problem !== undefined || !this.#sealedByHand || !this.#services.seal.automatic) return this.#opening.problem;
    return `the server was sealed by hand: ${recoveryKeys ? 'give recovery keys to operator unseal, or restart it' : 'it has no recovery keys yet, so a restart opens it'}`;
  }

  /** Whether the store has its keys. */
  async initialized(): Promise<boolean> {
    return (await this.#services.seal.config()) !== undefined;
  }

  /** Makes the keys of an empty store and its root token. The server stays sealed unless its seal opens by itself. */
  async initialize(order: InitOrder): Promise<InitResult & { rootToken: string }> {
    const made = await this.#changes.run(async () => {
      const { seal, tokens } = this.#services;
      const made = await seal.initialize(order);
      try {
        await tokens.open();
        const rootToken = await createRootToken(this.#kernel, tokens);
        if (seal.automatic) await this.#start();
        return { ...made, rootToken };
      } finally {
        if (!this.#open) {
          tokens.close();
          this.#kernel.barrier.seal();
          seal.forget();
        }
      }
    });
    await this.#step.opened();
    return made;
  }

  /** Initializes an empty store with this root token, and opens it. The keys are thrown away. @throws Error over a store that is initialized */
  initializeForDevelopment(rootToken: string): Promise<void> {
    return this.#changes.run(async () => {
      const { seal, tokens } = this.#services;
      if (await this.initialized()) throw new Error('devRootToken is for an empty store; this one is initialized');
      await seal.initialize(
        seal.automatic
          ? { secretShares: undefined, secretThreshold: undefined, recoveryShares: 1, recoveryThreshold: 1 }
          : { secretShares: 1, secretThreshold: 1, recoveryShares: undefined, recoveryThreshold: undefined },
      );
      await this.#start();
      await createRootToken(this.#kernel, tokens, rootToken);
    });
  }

  /** Takes one share of the operators; opens the server with the last one needed. `migrate`: migrates it to the seal of the configuration first. */
  unseal(share: Buffer, migrate = false): Promise<void> {
    return this.#step.onShares(async () =>
      this.#changes.run(async () => {
        await this.#services.seal.provide(share, migrate);
        if (!this.#kernel.barrier.sealed) await this.#start();
      }),
    );
  }

  /** Drops the shares given so far. */
  dropShares(): Promise<void> {
    return this.#step.onShares(async () => this.#services.seal.reset());
  }

  /** Opens the server if its seal does that by itself. */
  async openAutomatically(): Promise<boolean> {
    return this.#services.seal.automatic && (await this.#tryToOpen()) === 'open';
  }

  /**
   * Opens the server if its seal does that by itself. Where the store is not initialized yet or no seal can be reached, it is opened later, as soon
   * as that is possible; so it is where they do not answer for a while. @throws SealNotOpened for seals whose keys do not open the store
   */
  async openWhenPossible(): Promise<void> {
    if ((await this.#step.follow()) || !this.#services.seal.automatic) return;
    const trying = this.#tryToOpen();
    try {
      const first = await waitAtMost(this.#kernel.livenessClock, FIRST_TRY, trying);
      // A seal has answered: what goes on is the start.
      const found = first ?? (this.#kernel.barrier.sealed ? undefined : await trying);
      if (found === undefined) this.#opening.follow(trying);
      else this.#opening.start(found);
    } catch (error) {
      if (!(error instanceof SealNotOpened) || error.final) throw error;
      this.#opening.start(error);
    }
  }

  #tryToOpen(): Promise<OpeningResult> {
    const tried = this.#changes.run(async () => {
      const { seal, sealHealth } = this.#services;
      try {
        const found = await seal.openAutomatically();
        if (found === 'open') await this.#start();
        return found;
      } catch (error) {
        if (error instanceof SealNotOpened) sealHealth.notOpened(error.failures);
        throw error;
      }
    });
    return tried.then((found) => {
      if (found === 'open') void this.#step.opened();
      return found;
    });
  }

  /**
   * Waits for nobody: the keys are forgotten when this returns, requests under way are answered that the server is sealed, and whatever an engine
   * still does can neither read nor write. Resolves when the engines are closed, or have had their time for it.
   */
  async seal(): Promise<void> {
    this.#sealedByHand = true;
    await Promise.all([this.#seal(), this.#step.sealed()]);
  }

  #seal(): Promise<void> {
    const closed = this.#forgetKeys();
    return this.#changes.run(async () => {
      await closed();
      // An unsealing that was under way may have come to its end in between.
      await this.#forgetKeys()();
    });
  }

  /**
   * Seals the server, has another store put in the place of the one that it has, and opens it again with the same keys. False where those do not open the
   * new store: the server stays sealed then. What `replace` throws leaves the old store, which is opened again.
   */
  replaceStore(replace: () => Promise<void>): Promise<boolean> {
    return this.#changes.run(async () => {
      const openAgain = this.#services.seal.remember();
      await this.#forgetKeys()();
      this.#caches.drop();
      try {
        await replace();
      } finally {
        if (await openAgain()) await this.#start();
        else await this.#openAgain();
      }
      return this.#open;
    });
  }

  /** Gives scheduled work a moment to store how far it came, then seals and closes the storage. */
  async close(): Promise<void> {
    const { clock, driver, runner } = this.#kernel;
    this.#closed = true;
    this.#opening.stop();
    this.#services.sealHealth.stop();
    // A try that waits for a seal ends now.
    await this.#services.seal.seals.close();
    if (this.#open) {
      this.#services.removals.stop(new Unavailable('Vault is sealed'));
      await waitAtMost(clock, LAST_WORK, runner.stop());
      await waitAtMost(clock, LAST_WORK, this.#services.nodes.leave());
      await waitAtMost(clock, LAST_WORK, this.#services.sharedEvents.leave());
    }
    await this.#seal();
    this.#unsubscribe();
    await driver.close();
  }

  #asOwner(): CacheOwner {
    const isOpen = (): boolean => this.#open;
    return {
      get open() {
        return isOpen();
      },
      exclusively: (work) => this.#changes.run(work),
      load: () => this.#load(),
      nudge: () => this.#opening.nudge(),
      seal: async () => {
        await this.#seal();
        await this.#openAgain();
      },
      sealNow: async () => {
        await this.#forgetKeys()();
        await this.#openAgain();
      },
    };
  }

  #asSealOwner(): SealOwner {
    const [isOpen, byHand] = [(): boolean => this.#open, (): boolean => this.#sealedByHand];
    return {
      get open() {
        return isOpen();
      },
      get sealedByHand() {
        return byHand();
      },
      join: (sealKey) =>
        this.#changes.run(async () => {
          if (this.#open || this.#closed) return this.#open;
          if (!(await this.#services.seal.openWith(sealKey))) return false;
          await this.#start('joining');
          return true;
        }),
      sealToo: () => {
        this.#sealedByHand = true;
        void this.#seal();
      },
    };
  }

  /** The server sealed itself because another one replaced its keys: it opens with the new ones, if its seal does that by itself. */
  async #openAgain(): Promise<void> {
    if (this.#services.seal.automatic) this.#opening.start('not initialized');
  }

  async #load(): Promise<void> {
    const { tokens, cluster, policies, cors, pageHeaders, quotas } = this.#services;
    await tokens.open();
    await cluster.open(this.#kernel.store, this.#clusterName);
    await policies.initialize();
    await cors.load();
    await pageHeaders.load();
    await quotas.rates.load();
    await quotas.leases.load();
  }

  /** `joining`: other processes of this server are open already. */
  async #start(joining?: 'joining'): Promise<void> {
    if (this.#open) return;
    const { clock, log, barrier, incarnations, runner } = this.#kernel;
    const { versions, rootGeneration, audit, mounts, removals, tokens, cluster, figures, nodes, sealHealth, sharedEvents, logLevels } =
      this.#services;
    const began = clock.millis();
    this.#caches.opening();
    this.#starting = true;
    try {
      if (await this.#kernel.driver.get(MIGRATION)) throw new Unavailable(MIGRATING);
      await this.#load();
      await versions.record(VERSION);
      if (!joining) await rootGeneration.end();
      await audit.load();
      await incarnations.begin();
      await nodes.begin();
      await sharedEvents.begin();
      await mounts.open();
      await logLevels?.follow();
      await removals.resume();
      // Sealed meanwhile.
      if (barrier.sealed) throw new Unavailable('Vault is sealed');
    } catch (error) {
      log.error('the server could not start after unsealing', { error: String(error) });
      sharedEvents.end();
      nodes.end();
      incarnations.end();
      await mounts.close()();
      await audit.close();
      tokens.close();
      barrier.seal();
      throw error;
    } finally {
      this.#starting = false;
    }
    cluster.startedAt = clock.now();
    this.#open = true;
    this.#opening.stop();
    runner.start();
    this.#sealedByHand = false;
    this.#housekeeping.start();
    sealHealth.start();
    figures.sampler.start();
    this.#caches.opened();
    log.info('unsealed', { millis: clock.millis() - began });
  }

  /** Returns how to close what ran on the keys. */
  #forgetKeys(): () => Promise<void> {
    if (!this.#open && !this.#starting) return async () => undefined;
    const { clock, log, barrier, store, incarnations, runner } = this.#kernel;
    const { removals, mounts, tokens, seal, sealHealth, audit, figures, nodes, sharedEvents } = this.#services;
    this.#open = false;
    this.#housekeeping.stop();
    sealHealth.stop();
    figures.sampler.stop();
    nodes.end();
    sharedEvents.end();
    removals.stop(new Unavailable('Vault is sealed'));
    const work = runner.stop();
    incarnations.end();
    const closeEngines = mounts.close();
    tokens.close();
    barrier.seal();
    seal.forget();
    store.clear();
    log.info('sealed');
    return async () => {
      await closeEngines();
      await waitAtMost(clock, LAST_WORK, work);
      await audit.close();
    };
  }
}
