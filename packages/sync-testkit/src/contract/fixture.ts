import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  createNetworkGuard,
  isSyncError,
  secretsOf,
  type DestinationSession,
  type NetworkRules,
  type OwnershipMark,
  type RemoteSecret,
  type SyncErrorCode,
} from '@strongroom/sync-sdk';
import type { Static, TObject } from 'typebox';
import type { SyncContractCase } from './cases.ts';
import { tellLeftOut } from './left-out.ts';
import type { OutsideSecret, SyncContractOptions } from './options.ts';

/** Long enough for a slow provider, short enough to end a hanging case. */
const DEADLINE_MS = 60_000;
const ALL: NetworkRules = { allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true };
/** Shorter ones may be part of a usual word. */
const SHORTEST_SECRET = 8;
export const STRICT: NetworkRules = { ...ALL, disabled: false };

interface PutOptions {
  readonly mark?: OwnershipMark;
  readonly tags?: Readonly<Record<string, string>>;
  readonly current?: RemoteSecret | undefined;
  readonly operationId?: string;
  readonly signal?: AbortSignal;
}

/** What every case works with: sessions, fresh names, and the calls with their usual arguments filled in. */
export class Fixture<C extends TObject, A extends TObject> {
  readonly options: SyncContractOptions<C, A>;
  /** What the plugin logged. */
  readonly logged: string[] = [];
  readonly mark: OwnershipMark = newMark();
  readonly #made = new Set<string>();

  constructor(options: SyncContractOptions<C, A>) {
    this.options = options;
  }

  /** For what only the settings of a connection show to be absent. */
  leaveOut(name: SyncContractCase, reason: string): void {
    tellLeftOut(this.options.plugin.name, name, reason);
  }

  async config(): Promise<Static<C>> {
    const { config } = this.options;
    return typeof config === 'function' ? await (config as () => Promise<Static<C>>)() : config;
  }

  /** What no text may hold: the secrets of a connection and of its account, and the keys within them line by line. */
  secretsIn(config: Static<C>): string[] {
    const { plugin, account } = this.options;
    const ofAccount = plugin.accounts && account ? secretsOf(plugin.accounts.fields, account as Record<string, unknown>) : [];
    const whole = [...secretsOf(plugin.connection, config as Record<string, unknown>), ...ofAccount];
    const lines = whole
      .flatMap((secret) => secret.split(/\\n|\n/))
      .filter((line) => /^[\w+/=-]{32,}$/.test(line) && !line.startsWith('-----'));
    return [...whole.filter((secret) => secret.length >= SHORTEST_SECRET), ...lines];
  }

  async open(config?: Static<C>, rules: NetworkRules = ALL): Promise<DestinationSession> {
    const log = (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      void this.logged.push(`${message} ${fields ? JSON.stringify(fields) : ''}`);
    const { plugin, account, ca } = this.options;
    const network = createNetworkGuard(rules, ca === undefined ? {} : { ca });
    const session = await plugin.open(config ?? (await this.config()), {
      log: { debug: log, info: log, warn: log, error: log },
      now: () => new Date(),
      network,
      ...(account === undefined ? {} : { account }),
    });
    return withEnd(session, () => network.close());
  }

  /** Opens a session for `work`, and closes it and cleans up whatever happens. */
  async session<T>(work: (session: DestinationSession) => Promise<T>, config?: Static<C>, rules?: NetworkRules): Promise<T> {
    const session = await this.open(config, rules);
    try {
      return await work(session);
    } finally {
      await this.options.outside.heal?.();
      for (const name of this.#made) await this.options.outside.remove(name).catch(() => undefined);
      this.#made.clear();
      await session.close();
    }
  }

  get marked(): boolean {
    return this.options.plugin.ownership === 'marked';
  }

  async limits() {
    return this.options.plugin.limits(await this.config());
  }

  /** An unused name that is removed at the end of the session. */
  async name(rendered = `kit-${token()}`): Promise<string> {
    const name = (await this.limits()).name.normalize(rendered);
    this.#made.add(name);
    return name;
  }

  async put(session: DestinationSession, name: string, value: string, change: PutOptions = {}): Promise<RemoteSecret> {
    return await session.put({
      name,
      value,
      mark: change.mark ?? this.mark,
      tags: change.tags ?? {},
      operationId: change.operationId ?? randomUUID(),
      signal: change.signal ?? deadline(),
      ...(change.current === undefined ? {} : { current: change.current }),
    });
  }

  async read(session: DestinationSession, name: string): Promise<RemoteSecret | undefined> {
    return await session.read({ name, signal: deadline() });
  }

  async requireRead(session: DestinationSession, name: string): Promise<RemoteSecret> {
    const found = await this.read(session, name);
    assert.ok(found, 'a secret that exists outside reads as nothing');
    return found;
  }

  async remove(session: DestinationSession, name: string, current: RemoteSecret): Promise<void> {
    await session.remove({ name, current, signal: deadline() });
  }

  async list(session: DestinationSession, destination = this.mark.destination): Promise<RemoteSecret[]> {
    const found: RemoteSecret[] = [];
    for await (const secret of session.list({ destination, signal: deadline() })) found.push(secret);
    return found;
  }

  async outside(name: string): Promise<OutsideSecret | undefined> {
    return await this.options.outside.read(name);
  }

  async stands(name: string, value: string, message: string): Promise<void> {
    assert.equal((await this.outside(name))?.value, value, message);
  }

  /** Those of `options` that a case needs, or the complaint that they are missing. */
  require<K extends keyof SyncContractOptions<C, A>>(key: K): NonNullable<SyncContractOptions<C, A>[K]> {
    const value = this.options[key];
    assert.ok(value, `this case needs \`${key}\`; give it, or skip the case with a reason`);
    return value;
  }

  outsideCan<K extends keyof SyncContractOptions<C, A>['outside']>(key: K): NonNullable<SyncContractOptions<C, A>['outside'][K]> {
    const { outside } = this.options;
    const value = outside[key];
    assert.ok(value, `this case needs \`outside.${key}\`; give it, or skip the case with a reason`);
    return (typeof value === 'function' ? value.bind(outside) : value) as NonNullable<SyncContractOptions<C, A>['outside'][K]>;
  }
}

/** Rejects with an error of the catalogue, and gives it back. */
export async function rejects<T extends Error = Error>(code: SyncErrorCode, call: Promise<unknown>, message: string): Promise<T> {
  let caught: unknown;
  try {
    await call;
  } catch (error) {
    caught = error;
  }
  assert.ok(caught !== undefined, message);
  assert.ok(isSyncError(caught), `${message}: rejected with ${String(caught)}, which is none of the errors of sync-sdk`);
  assert.equal(caught.code, code, `${message}: ${caught.message}`);
  return caught as unknown as T;
}

export const deadline = (): AbortSignal => AbortSignal.timeout(DEADLINE_MS);
export const token = (): string => randomBytes(5).toString('hex');
export const newMark = (destination = randomBytes(12).toString('hex')): OwnershipMark => ({
  destination,
  association: randomBytes(12).toString('hex'),
});

function withEnd(session: DestinationSession, end: () => Promise<void>): DestinationSession {
  return {
    read: (request) => session.read(request),
    put: (request) => session.put(request),
    remove: (request) => session.remove(request),
    list: (request) => session.list(request),
    ...(session.count ? { count: (signal: AbortSignal) => session.count!(signal) } : {}),
    async close() {
      await session.close();
      await end();
    },
  };
}
