import { randomUUID } from 'node:crypto';
import { f } from '@strongroom/engine-sdk';
import {
  ClientSideError,
  ExternalServiceError,
  NameTaken,
  OWNER_TAG,
  parseMark,
  formatMark,
  SessionClosed,
  SYNCED_TAG,
  Throttled,
  type DestinationLimits,
  type Ownership,
  type RemoteSecret,
  type SyncDestinationPlugin,
} from '@strongroom/sync-sdk';
import { Type } from 'typebox';
import type { Outside, OutsideSecret } from './options.ts';

const Connection = Type.Object({
  endpoint: f.string('Where the provider is.', { default: 'http://127.0.0.1:8200' }),
  access_token: f.secret('What it is opened with.', { required: true }),
  place: f.string('The place that secrets go to.', { default: 'main' }),
  account: f.string('The shared account to use, if any.'),
});
const Account = Type.Object({
  owner: f.string('Whose account it is.', { required: true }),
  private_key: f.secret('Its key.', { required: true }),
});

/** What is asked for by name, such as `put app/db`; `hanging` requests end with their signal. */
type Failure = 'throttled' | 'failing' | 'hanging' | 'denied';

interface Held {
  value: string;
  tags: Record<string, string>;
  readonly identity: string;
  revision: string;
  readonly createdAt: Date;
  softDeleted: boolean;
}

/** What the provider in memory is like. */
export interface MemoryProviderOptions {
  readonly ownership?: Ownership;
  readonly limits?: Partial<DestinationLimits>;
  readonly now?: () => Date;
  /** `softDelete`: removing keeps the name taken. */
  readonly softDelete?: boolean;
  readonly token?: string;
  readonly pageSize?: number;
}

/** A provider in memory that misbehaves on request, and what tests see of it from outside. */
export class MemoryProvider implements Outside {
  readonly secrets = new Map<string, Held>();
  /** Every request, in order: `put app/db`. */
  readonly log: string[] = [];
  readonly options: MemoryProviderOptions;
  /** What requests that match are answered with; the first that matches counts. */
  readonly failures: { readonly how: Failure; readonly matches: RegExp }[] = [];
  /** Called for every request before, and after, it changes anything: a throw is a lost connection. */
  hook: ((call: string, moment: 'before' | 'after') => void | Promise<void>) | undefined;
  #serial = 0;

  constructor(options: MemoryProviderOptions = {}) {
    this.options = options;
  }

  get token(): string {
    return this.options.token ?? 'memory-token';
  }

  async read(name: string): Promise<OutsideSecret | undefined> {
    const held = this.secrets.get(name);
    return held && !held.softDeleted ? { value: held.value, tags: held.tags } : undefined;
  }

  async write(name: string, value: string): Promise<void> {
    const held = this.secrets.get(name);
    if (held) Object.assign(held, { value, revision: this.#next(), softDeleted: false });
    else this.#make(name, value);
  }

  async remove(name: string): Promise<void> {
    this.secrets.delete(name);
  }

  softDelete = async (name: string): Promise<void> => {
    const held = this.secrets.get(name);
    if (held) held.softDeleted = true;
  };

  requests(): number {
    return this.log.length;
  }

  /** How many requests of a kind there were: `put`, `remove`, `read`, `list`. */
  count(verb: string): number {
    return this.log.filter((call) => call.startsWith(`${verb} `)).length;
  }

  fail(how: Failure, matches = /^/): void {
    this.failures.push({ how, matches });
  }

  heal(): void {
    this.failures.length = 0;
  }

  /** Values by name, of what is there. */
  values(): Record<string, string> {
    return Object.fromEntries([...this.secrets].filter(([, held]) => !held.softDeleted).map(([name, { value }]) => [name, value]));
  }

  async call<T>(call: string, token: string | undefined, signal: AbortSignal, work: () => T): Promise<T> {
    signal.throwIfAborted();
    this.log.push(call);
    await this.hook?.(call, 'before');
    const requestId = `req-${this.log.length}`;
    if (token !== this.token) throw new ClientSideError('the token is refused', { providerCode: '401', requestId });
    const failure = this.failures.find(({ matches }) => matches.test(call));
    if (failure?.how === 'throttled') throw new Throttled('too many requests', { providerCode: '429', requestId, retryAfterSeconds: 7 });
    if (failure?.how === 'failing') throw new ExternalServiceError('it is down', { providerCode: '503', requestId });
    if (failure?.how === 'denied') throw new ClientSideError('it is not allowed', { providerCode: '403', requestId });
    if (failure?.how === 'hanging') {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
    }
    const done = work();
    await this.hook?.(call, 'after');
    return done;
  }

  put(name: string, value: string, tags: Record<string, string>, creating: boolean): RemoteSecret {
    const held = this.secrets.get(name);
    if (creating && held) throw new NameTaken(`${name} is there already`);
    if (held) Object.assign(held, { value, tags: { ...held.tags, ...tags }, revision: this.#next(), softDeleted: false });
    else this.#make(name, value, tags);
    return this.look(name)!;
  }

  drop(name: string): void {
    const held = this.secrets.get(name);
    if (held && this.options.softDelete === true) held.softDeleted = true;
    else this.secrets.delete(name);
  }

  look(name: string): RemoteSecret | undefined {
    const held = this.secrets.get(name);
    if (!held) return undefined;
    const mark = this.options.ownership === 'recorded' ? undefined : parseMark(held.tags[OWNER_TAG]);
    return {
      name,
      identity: held.identity,
      revision: held.revision,
      createdAt: held.createdAt,
      ...(mark ? { mark } : {}),
      ...(held.softDeleted ? { softDeleted: true } : {}),
    };
  }

  #make(name: string, value: string, tags: Record<string, string> = {}): void {
    const createdAt = this.options.now?.() ?? new Date();
    this.secrets.set(name, { value, tags, identity: randomUUID(), revision: this.#next(), createdAt, softDeleted: false });
  }

  #next(): string {
    this.#serial += 1;
    return `r${this.#serial}`;
  }
}

const LIMITS: DestinationLimits = {
  name: {
    pattern: /[\w/.@-]+/,
    maxLength: 128,
    rule: 'letters, digits and any of "_/.@-", at most 128 characters',
    caseSensitive: true,
    normalize: (rendered) => rendered.replaceAll(/[^\w/.@-]/g, '-'),
  },
  valueMaxBytes: 65_536,
  emptyValue: true,
  tags: { maxCount: 10, key: /^.{1,64}$/, value: /^.{0,128}$/, rule: 'keys of at most 64 and values of at most 128 characters' },
  pace: { perSecond: 1_000, burst: 1_000 },
};

/** A destination over a MemoryProvider: for tests of the engine, and of the contract itself. */
export function memoryDestination(provider: MemoryProvider, name = 'memory'): SyncDestinationPlugin<typeof Connection, typeof Account> {
  const { options } = provider;
  return {
    kind: 'sync-destination',
    name,
    aliases: [`${name}-alias`],
    title: 'the memory',
    apiVersion: 2,
    version: '0.1.0',
    connection: Connection,
    fixed: ['place'],
    options: {
      customTags: true,
      granularity: 'secret-path',
      secretNameTemplate: 'vault/{{ .MountAccessor }}/{{ .SecretPath }}',
    },
    ownership: options.ownership ?? 'marked',
    accounts: {
      collection: `${name}-accounts`,
      field: 'account',
      fields: Account,
      describe: ({ owner }) => ({ fingerprint: `of ${owner}` }),
    },
    limits: () => ({ ...LIMITS, ...options.limits }),
    check: ({ endpoint }) => (URL.canParse(endpoint) ? [] : ['endpoint must be a URL']),
    open: async ({ endpoint, access_token }, { network }) => {
      let closed = false;
      const call = async <T>(what: string, signal: AbortSignal, work: () => T): Promise<T> => {
        if (closed) throw new SessionClosed();
        const { hostname, port } = new URL(endpoint);
        network.check(hostname, Number(port || 443));
        if (port === '1') throw new ExternalServiceError('nothing answers', { providerCode: 'ECONNREFUSED' });
        return provider.call(what, access_token, signal, work);
      };
      return {
        read: async ({ name: at, signal }) => call(`read ${at}`, signal, () => provider.look(at)),
        put: async ({ name: at, value, mark, tags, current, signal }) =>
          call(`put ${at}`, signal, () => {
            const own = provider.options.ownership === 'recorded' ? {} : { [OWNER_TAG]: formatMark(mark) };
            return provider.put(at, value, { ...tags, [SYNCED_TAG]: '', ...own }, current === undefined);
          }),
        remove: async ({ name: at, signal }) => call(`remove ${at}`, signal, () => provider.drop(at)),
        async *list({ destination, signal }) {
          const size = options.pageSize ?? 10;
          for (let page = 0; ; page += 1) {
            const names = await call(`list ${page}`, signal, () => [...provider.secrets.keys()].slice(page * size, (page + 1) * size));
            for (const at of names) {
              const secret = provider.look(at);
              if (!secret || secret.softDeleted) continue;
              if (options.ownership === 'recorded' || secret.mark?.destination === destination) yield secret;
            }
            if (names.length < size) return;
          }
        },
        count: async (signal) => call('count all', signal, () => provider.secrets.size),
        close: async () => {
          closed = true;
        },
      };
    },
  } satisfies SyncDestinationPlugin<typeof Connection, typeof Account>;
}

/** The plugin of a provider in memory. */
export type MemoryDestination = ReturnType<typeof memoryDestination>;
