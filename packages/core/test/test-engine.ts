import {
  BadRequest,
  f,
  idempotencyFields,
  issue,
  path,
  type Engine,
  type EngineHost,
  type EnginePackage,
  type FailingThing,
  type Intent,
  type OutsideThing,
  type Schedule,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';

/** The outside world of the test engine: plain data, and ways in which it misbehaves. */
export class Outside {
  readonly users = new Set<string>();
  /** Everything that was asked of it, in order: `create a`, `drop a`, `tick a`. */
  readonly log: string[] = [];
  /** By system name: every call fails, or never answers. */
  readonly failing = new Set<string>();
  readonly hanging = new Set<string>();
  #serial = 0;

  name(): string {
    this.#serial += 1;
    return `u${this.#serial}`;
  }

  async call(verb: string, system: string, name: string, signal?: AbortSignal): Promise<void> {
    this.log.push(`${verb} ${name}`);
    if (this.hanging.has(system)) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('cut off'))));
    if (this.failing.has(system)) throw new Error(`${system} is down`);
    if (verb === 'create') this.users.add(name);
    if (verb === 'drop') this.users.delete(name);
  }

  count(entry: string): number {
    return this.log.filter((line) => line === entry).length;
  }
}

const Account = Type.Object({ system: Type.String(), name: Type.String() });
const Role = Type.Object({ system: Type.String(), ttl: Type.Number(), max_ttl: Type.Number() });

/** An engine with every kind of thing the core looks after: leases, an intent, a schedule, records. */
export function testEngine(
  outside: Outside,
  hooks: {
    afterCreate?: () => Promise<void>;
    next?: () => Date | undefined;
    invalidated?: (key: string) => void;
    initialize?: () => Promise<void>;
    asked?: (system: string) => Promise<void>;
    retire?: (host: EngineHost, signal: AbortSignal) => Promise<void>;
    outside?: (host: EngineHost) => Promise<OutsideThing[]>;
    failing?: (limit: number) => Promise<FailingThing[]>;
    close?: (host: EngineHost) => Promise<void>;
    revoked?: (name: string) => void;
    tuned?: (host: EngineHost) => Promise<void>;
  } = {},
): EnginePackage {
  const account: SecretType<typeof Account> = {
    type: 'account',
    internal: Account,
    target: (internal) => internal.system,
    renew: async () => ({ ttl: 3_600, maxTtl: 7_200 }),
    revoke: async ({ internal, signal }) => outside.call('drop', internal.system, internal.name, signal),
    ...(hooks.revoked && {
      revoked: async ({ name }, tx) => {
        await tx.collection('left/', Type.Object({ name: Type.String() })).put(name, { name });
        hooks.revoked?.(name);
      },
    }),
    dropped: async (internal, tx) =>
      tx.collection('left/', Type.Object({ name: Type.String() })).put(internal.name, { name: internal.name }),
    outside: ({ system, name }) => ({ kind: 'account', name, system }),
  };
  const creation: Intent<typeof Account> = {
    kind: 'create-account',
    entry: Account,
    minAgeSeconds: 120,
    target: (entry) => entry.system,
    rollback: async (entry, _storage, signal) => outside.call('drop', entry.system, entry.name, signal),
    outside: ({ system, name }) => ({ kind: 'account', name, system, detail: 'it was being made' }),
  };
  const removal: Intent<typeof Account> = { ...creation, kind: 'remove-account', takesBack: true };
  const tick: Schedule<typeof Account> = {
    kind: 'tick',
    entry: Account,
    target: (entry) => entry.system,
    about: async ({ name }) => ({ noun: 'clock', name, path: `ticks/${name}`, retry: `asked/${name}` }),
    run: async (entry, _storage, signal) => {
      await outside.call('tick', entry.system, entry.name, signal);
      return hooks.next?.();
    },
  };
  return {
    name: 'test',
    kind: 'secret',
    apiVersion: 2,
    create: (host) => {
      const roles = host.storage.collection('role/', Role, { cached: true });
      return {
        secrets: [account],
        intents: [creation, removal],
        schedules: [tick],
        ...(hooks.initialize ? { initialize: hooks.initialize } : {}),
        // As they are at the moment: an engine without them must be had too.
        get retire() {
          return (hooks.retire && (async (signal) => hooks.retire?.(host, signal))) as NonNullable<Engine['retire']>;
        },
        get outside() {
          return (hooks.outside && (async () => hooks.outside!(host))) as NonNullable<Engine['outside']>;
        },
        failing: async (limit) => (await hooks.failing?.(limit)) ?? [],
        system: (target) => ({ noun: 'system', name: target, path: `systems/${target}` }),
        close: async () => hooks.close?.(host),
        tuned: async () => hooks.tuned?.(host),
        ...(hooks.invalidated ? { invalidate: hooks.invalidated } : {}),
        paths: [
          path('roles/{name}', {
            synopsis: 'Roles.',
            description: 'What accounts are made for.',
            fields: {
              name: f.name('The role.'),
              system: f.string('The outside system.', { default: 'one' }),
              ttl: f.duration('Lease length.', { default: 0 }),
              max_ttl: f.duration('Longest lease.', { default: 0 }),
            },
          })
            .read({
              summary: 'Reads a role.',
              handle: async (req) => {
                const role = await roles.get(req.data.name);
                return role && { data: role };
              },
            })
            .upsert({
              summary: 'Writes a role.',
              exists: async (req) => roles.has(req.data.name),
              handle: async ({ data: { name, ...role } }) => {
                await roles.put(name, role);
                return undefined;
              },
            }),
          path('creds/{name}', {
            synopsis: 'Accounts.',
            description: 'A new account with a lease.',
            fields: { name: f.name('The role.'), note: f.string('Whatever the caller likes.'), ...idempotencyFields },
          }).read({
            summary: 'Makes an account.',
            oncePerKey: true,
            handle: async (req) => {
              const role = await roles.get(req.data.name);
              if (!role) throw new BadRequest(`unknown role ${req.data.name}`);
              const made = { system: role.system, name: outside.name() };
              const fulfils = await host.storage.transaction(async (tx) => tx.intend(creation, made));
              await outside.call('create', made.system, made.name, req.signal);
              await hooks.afterCreate?.();
              return {
                data: { name: made.name },
                secret: issue(account, { internal: made, terms: { ttl: role.ttl, maxTtl: role.max_ttl }, fulfils }),
              };
            },
          }),
          path('accounts/{name}', {
            synopsis: 'Accounts without a lease.',
            description: 'To delete one is a change that only takes back.',
            fields: { name: f.name('The account.'), system: f.string('The outside system.', { default: 'one' }) },
          })
            .update({
              summary: 'Makes one.',
              handle: async (req) => {
                const made = { system: req.data.system, name: req.data.name };
                const intent = await host.storage.transaction(async (tx) => tx.intend(creation, made));
                await outside.call('create', made.system, made.name, req.signal);
                await hooks.afterCreate?.();
                await host.storage.transaction(async (tx) => tx.settle(intent));
                return undefined;
              },
            })
            .delete({
              summary: 'Removes it.',
              handle: async (req) => {
                const meant = { system: req.data.system, name: req.data.name };
                const intent = await host.storage.transaction(async (tx) => tx.intend(removal, meant));
                try {
                  await outside.call('drop', meant.system, meant.name, req.signal);
                } catch (error) {
                  await host.storage.transaction(async (tx) => tx.abandon(intent));
                  throw error;
                }
                await host.storage.transaction(async (tx) => tx.settle(intent));
                return undefined;
              },
            }),
          path('managed/{name}', {
            synopsis: 'Managed accounts.',
            description: 'Accounts whose password this mount changes.',
            fields: {
              name: f.name('The account.'),
              by: f.string('Who manages it.', { default: 'a role' }),
              adopt: f.bool('Take it over.'),
            },
          })
            .read({
              summary: 'Tells who manages it.',
              handle: async (req) => {
                const manager = await host.storage.managerOf({ system: 'one', name: req.data.name });
                return manager && { data: manager };
              },
            })
            .update({
              summary: 'Manages it.',
              handle: async ({ data }) => {
                await host.storage.transaction(async (tx) =>
                  tx.manage({ system: 'one', name: data.name }, data.by, { adopt: data.adopt === true }),
                );
                return undefined;
              },
            })
            .delete({
              summary: 'Lets it go.',
              handle: async ({ data }) => {
                await host.storage.transaction(async (tx) => tx.release({ system: 'one', name: data.name }, data.by));
                return undefined;
              },
            }),
          path('left', { synopsis: 'Accounts left behind.', description: 'By leases that were dropped.', fields: {} }).list({
            summary: 'Lists them.',
            handle: async () => ({ data: { keys: await host.storage.collection('left/', Type.Object({ name: Type.String() })).list() } }),
          }),
          path('asked/{name}', {
            synopsis: 'Asks an outside system.',
            description: 'Through its circuit.',
            fields: { name: f.name('The system.') },
          }).update({
            summary: 'Asks.',
            handle: async (req) => {
              const { name } = req.data;
              await host.circuit(name).call(req.signal, async () => hooks.asked?.(name));
              return { data: { ...host.circuit(name).status() } };
            },
          }),
          path('mended/{name}', {
            synopsis: 'An outside system that works again.',
            description: 'What waits for it is tried again.',
            fields: { name: f.name('The system.') },
          }).update({
            summary: 'Says so.',
            handle: async (req) => {
              await host.retry(req.data.name);
              return undefined;
            },
          }),
          path('ticks/{name}', {
            synopsis: 'Something that is due later.',
            description: 'Once, or again and again.',
            fields: {
              name: f.name('The job.'),
              system: f.string('The outside system.', { default: 'one' }),
              after: f.duration('When.', { default: 60 }),
            },
          })
            .update({
              summary: 'Schedules it.',
              handle: async ({ data }) => {
                const at = new Date(host.clock.millis() + data.after * 1_000);
                await host.storage.transaction(async (tx) => tx.schedule(tick, data.name, at, { system: data.system, name: data.name }));
                return undefined;
              },
            })
            .read({
              summary: 'Shows how it stands.',
              handle: async ({ data }) => {
                const status = await host.storage.jobStatus(tick, data.name);
                return status && { data: { state: status.state, attempts: status.attempts, next: status.nextAttempt.toISOString() } };
              },
            })
            .delete({
              summary: 'Drops it.',
              handle: async ({ data }) => {
                await host.storage.transaction(async (tx) => tx.unschedule(tick, data.name));
                return undefined;
              },
            }),
        ],
      };
    },
  };
}
