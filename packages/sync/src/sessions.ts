import { Quarantine, QUARANTINE_MILLIS, type EngineHost } from '@strongroom/engine-sdk';
import {
  ConfigurationInvalid,
  createNetworkGuard,
  type DestinationHost,
  type DestinationLimits,
  type DestinationSession,
  type NetworkGuard,
  type NetworkRules,
  type SyncDestinationPlugin,
} from '@strongroom/sync-sdk';
import type { DestinationTypes } from './destination-types.ts';
import type { Pacer } from './pacer.ts';
import { PluginFault } from './destination-guard.ts';
import { placeOf, recordsIn, type DestinationRecord } from './records.ts';

/** A destination ready for use. Every call of its session is counted by the pacer. */
export interface OpenDestination {
  readonly plugin: SyncDestinationPlugin;
  readonly limits: DestinationLimits;
  readonly session: DestinationSession;
}

interface Opened {
  readonly generation: number;
  readonly ready: Promise<OpenDestination & { readonly network: NetworkGuard }>;
  users: number;
  retired: boolean;
}

export const networkRules = (destination: DestinationRecord): NetworkRules => ({
  allowedIpv4: destination.allowed_ipv4_addresses,
  allowedIpv6: destination.allowed_ipv6_addresses,
  allowedPorts: destination.allowed_ports,
  disabled: destination.disable_strict_networking,
});

/** Sessions to destinations: opened at first use, kept, and replaced when the destination was written again. */
export class Sessions {
  readonly #host: EngineHost;
  readonly #types: DestinationTypes;
  readonly #pacer: Pacer;
  readonly #kept = new Map<string, Opened>();
  /** Destinations whose plugin broke its contract, by id. */
  readonly #quarantine: Quarantine;

  constructor(host: EngineHost, types: DestinationTypes, pacer: Pacer) {
    this.#host = host;
    this.#types = types;
    this.#pacer = pacer;
    this.#quarantine = new Quarantine(host.clock);
  }

  /** Does work with a session, which stays open until it is done. */
  async use<T>(destination: DestinationRecord, work: (open: OpenDestination) => Promise<T>): Promise<T> {
    this.#checkInUse(destination);
    let opened = this.#kept.get(destination.id);
    if (opened?.generation !== destination.generation) {
      if (opened) this.#retire(opened);
      opened = { generation: destination.generation, ready: this.#opened(destination), users: 0, retired: false };
      this.#kept.set(destination.id, opened);
    }
    opened.users += 1;
    try {
      return await work(await opened.ready);
    } catch (error) {
      if (await failed(opened.ready)) this.#drop(destination.id, opened);
      throw error;
    } finally {
      opened.users -= 1;
      if (opened.retired && opened.users === 0) await closed(opened);
    }
  }

  /**
   * Does work with a session of its own, which is closed then: of a destination that may not be stored. Nothing counts its calls, and a fault of the plugin is
   * logged and no more.
   */
  async apart<T>(destination: DestinationRecord, work: (open: OpenDestination, network: NetworkGuard) => Promise<T>): Promise<T> {
    const fault = (what: string): void => {
      this.#host.log.error(`a test of ${placeOf(destination)}: the plugin ${what}`, { place: placeOf(destination) });
    };
    const ready = this.#open(destination, fault);
    try {
      const open = await ready;
      return await work(open, open.network);
    } finally {
      await closed({ ready });
    }
  }

  /** The destination is gone. */
  forget(id: string): void {
    this.#quarantine.end(id);
    const opened = this.#kept.get(id);
    if (opened) this.#drop(id, opened);
    this.#pacer.forget(id);
  }

  async close(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(all.map(closed));
  }

  /** @throws PluginFault while the destination is quarantined */
  #checkInUse({ id, generation }: DestinationRecord): void {
    const found = this.#quarantine.find(id, generation);
    if (found) throw new PluginFault(`${found.reason}; the destination is quarantined until ${new Date(found.until).toISOString()}`);
  }

  /** The plugin broke its contract: the session is not used any more, and no other is opened for a while. */
  #fault(destination: DestinationRecord, title: string, what: string): void {
    const reason = `the plugin of ${title} ${what}`;
    const place = placeOf(destination);
    this.#quarantine.begin(destination.id, destination.generation, reason);
    this.#host.log.error(`${reason}; the destination ${place} is quarantined for ${QUARANTINE_MILLIS / 1_000} s`, { place });
    const opened = this.#kept.get(destination.id);
    if (opened?.generation === destination.generation) this.#drop(destination.id, opened);
  }

  #drop(id: string, opened: Opened): void {
    if (this.#kept.get(id) === opened) this.#kept.delete(id);
    this.#retire(opened);
  }

  #retire(opened: Opened): void {
    opened.retired = true;
    if (opened.users === 0) void closed(opened);
  }

  async #opened(destination: DestinationRecord): Promise<OpenDestination & { network: NetworkGuard }> {
    const { title } = this.#types.installed(destination.type);
    const { session, ...open } = await this.#open(destination, (what) => this.#fault(destination, title, what));
    const spend = (): void => this.#pacer.spend(destination.id, open.limits.pace);
    return { ...open, session: counted(session, spend) };
  }

  async #open(destination: DestinationRecord, fault: (what: string) => void): Promise<OpenDestination & { network: NetworkGuard }> {
    const plugin = this.#types.installed(destination.type);
    const limits = plugin.limits(destination.connection);
    const account = await this.#account(plugin, destination);
    const network = createNetworkGuard(networkRules(destination));
    const cluster = this.#host.clusterId?.();
    try {
      const own: DestinationHost<Record<string, unknown>> = {
        ...{ log: this.#host.log, now: () => this.#host.clock.now(), network },
        identityToken: async (order) => this.#host.identity.token({ ...order, part: placeOf(destination) }),
        ...(account === undefined ? {} : { account }),
        ...(cluster === undefined ? {} : { cluster }),
      };
      const session = await plugin.openFor(destination.connection, own, fault);
      return { plugin, limits, network, session };
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  async #account({ accounts }: SyncDestinationPlugin, { connection }: DestinationRecord): Promise<Record<string, unknown> | undefined> {
    const name = accounts && connection[accounts.field];
    if (!accounts || typeof name !== 'string' || name === '') return undefined;
    const account = await recordsIn(this.#host.storage).accounts.get(`${accounts.collection}/${name}`);
    if (!account)
      throw new ConfigurationInvalid(`${accounts.field}: there is no ${JSON.stringify(name)} in sys/sync/${accounts.collection}`);
    return account;
  }
}

async function failed(ready: Promise<unknown>): Promise<boolean> {
  return ready.then(
    () => false,
    () => true,
  );
}

async function closed({ ready }: Pick<Opened, 'ready'>): Promise<void> {
  try {
    const { session, network } = await ready;
    await session.close().catch(() => undefined);
    await network.close();
  } catch {
    // It never opened.
  }
}

function counted(session: DestinationSession, spend: () => void): DestinationSession {
  const count = session.count?.bind(session);
  return {
    read: async (request) => (spend(), session.read(request)),
    put: async (request) => (spend(), session.put(request)),
    remove: async (request) => (spend(), session.remove(request)),
    list: (request) => (spend(), session.list(request)),
    ...(count ? { count: async (signal) => (spend(), count(signal)) } : {}),
    close: async () => session.close(),
  };
}
