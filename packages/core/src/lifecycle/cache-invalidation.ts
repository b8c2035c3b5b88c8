import type { Clock, Log } from '@strongroom/engine-sdk';
import { EVERYTHING, type ChangedKeys } from '@strongroom/storage-sdk';
import { KEY_RING, MIGRATION } from '../kernel/barrier/barrier.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { mountRecords } from '../kernel/mounts/mount-record.ts';
import { eventBatches } from '../services/events/event-batch.ts';
import { followReloadOrder, RELOAD_ORDER } from '../services/mounts/plugin-reload.ts';
import { PREFIXES, type Services } from '../services/services.ts';

/** Until another try to read everything again, after a failure. Milliseconds. */
const RETRY = 500;

/** The server whose caches these are. */
export interface CacheOwner {
  readonly open: boolean;
  /** Runs work when no start, seal or other such work is under way. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Loads what the server keeps in memory besides its mounts. */
  load(): Promise<void>;
  /** The sealed server may be able to open now. */
  nudge(): void;
  seal(): Promise<void>;
  /** Seals the server within `exclusively`. */
  sealNow(): Promise<void>;
}

/** Keeps this process's caches in step with the changes of others: drops or reloads what has changed, or everything. */
export class CacheInvalidation {
  readonly #kernel: Kernel;
  readonly #services: Services;
  readonly #owner: CacheOwner;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Others changed something while this server was not open: what it read while it opened may be older. */
  #missed = false;

  constructor(kernel: Kernel, services: Services, owner: CacheOwner) {
    this.#kernel = kernel;
    this.#services = services;
    this.#owner = owner;
    this.#clock = kernel.clock;
    this.#log = kernel.log;
  }

  /** Hears of the changes of other processes from now on; the result ends that. */
  subscribe(): () => void {
    this.#kernel.changesInStep.applyBy(async (keys) => this.#apply(keys), isCopied);
    return this.#kernel.driver.changes((changed) => this.#heard(changed));
  }

  /** The server begins to open: what others change from now on may be newer than what it reads. */
  opening(): void {
    this.#missed = false;
  }

  /** The server is open. */
  opened(): void {
    if (this.#missed) this.#invalidateAll();
  }

  /** The store is another one, and the server sealed: nothing that was read before counts. */
  drop(): void {
    const { policies, passwords, identity } = this.#services;
    this.#kernel.store.clear();
    policies.invalidateAll();
    passwords.invalidateAll();
    identity.invalidateAll();
  }

  /** Also called while sealed. */
  #heard(changed: ChangedKeys): void {
    if (!this.#owner.open) {
      this.#missed = true;
      if (changed === EVERYTHING || changed.includes(KEY_RING)) this.#owner.nudge();
    } else if (changed === EVERYTHING) this.#invalidateAll();
    else void this.#invalidate(changed);
  }

  /** Another process of this server made them, and its caller waits. */
  async #apply(changed: readonly string[]): Promise<void> {
    if (this.#owner.open) await this.#invalidate(changed);
    else this.#heard(changed);
  }

  async #invalidate(keys: readonly string[]): Promise<void> {
    const { barrier, driver, store } = this.#kernel;
    const { cors, pageHeaders, mounts, quotas } = this.#services;
    try {
      if (keys.includes(MIGRATION) && (await driver.get(MIGRATION))) {
        this.#log.error('the store is being migrated: the server seals itself');
        await this.#owner.seal();
        return;
      }
      // What is only dropped is dropped at once: nothing that has to be read holds it up.
      for (const key of keys) this.#drop(key);
      if (keys.includes(KEY_RING)) await barrier.reload();
      if (keys.includes(mountRecords.prefix)) await mounts.reload();
      if (keys.includes(RELOAD_ORDER.key)) await followReloadOrder(store, this.#services);
      if (keys.some((key) => key.startsWith(PREFIXES.system))) {
        await cors.load();
        await pageHeaders.load();
      }
      if (keys.some((key) => key.startsWith(PREFIXES.quotas))) {
        await quotas.rates.load();
        await quotas.leases.load();
      }
    } catch (error) {
      this.#log.error('a change by another process could not be applied', { error: String(error) });
      if (barrier.sealed) await this.#owner.seal();
      else if (this.#owner.open) this.#invalidateAll();
    }
  }

  #drop(key: string): void {
    const { policies, passwords, identity, audit, mounts } = this.#services;
    if (key.startsWith(PREFIXES.policies)) {
      policies.invalidate(key.slice(PREFIXES.policies.length));
      passwords.invalidate(key.slice(PREFIXES.policies.length));
    } else if (key.startsWith(PREFIXES.identity)) identity.invalidate(key.slice(PREFIXES.identity.length));
    else if (key.startsWith(PREFIXES.audit)) audit.invalidate(key.slice(PREFIXES.audit.length));
    else mounts.invalidate(key);
  }

  /** Any record may be another: no cache counts until all were read again, and until then no request is answered from one. */
  #invalidateAll(): void {
    const { copies } = this.#kernel;
    const epoch = copies.drop();
    const reload = async (): Promise<void> => {
      if (this.#owner.open) await this.#reloadAll();
      if (copies.renewed(epoch)) this.#log.info('all caches were reloaded');
    };
    void this.#owner.exclusively(reload).catch((error: unknown) => {
      this.#log.error('the caches could not be reloaded; trying again', { error: String(error) });
      this.#clock.after(RETRY, () => {
        if (copies.epoch === epoch) this.#invalidateAll();
      });
    });
  }

  /** Within `exclusively`. */
  async #reloadAll(): Promise<void> {
    const { barrier } = this.#kernel;
    const { audit, mounts } = this.#services;
    this.drop();
    try {
      await barrier.reload();
    } catch (error) {
      if (!barrier.sealed) throw error;
      this.#log.error('the key ring can no longer be opened: the server seals itself', { error: String(error) });
    }
    if (barrier.sealed) return this.#owner.sealNow();
    await this.#owner.load();
    await audit.readAnew();
    await mounts.readAnew();
  }
}

/** Events are no copies, and reloads of plugins go another way between the processes of a server. */
function isCopied(key: string): boolean {
  return !key.startsWith(eventBatches.prefix) && key !== RELOAD_ORDER.key;
}
