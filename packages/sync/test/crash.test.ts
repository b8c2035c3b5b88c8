import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { manualClock, killableMount, type ManualClock, type KillableMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { syncEngine } from '../src/index.ts';
import { CONNECTION } from './sync-mount.ts';

const ONE = 'sys/sync/destinations/memory/one';
const SET = `${ONE}/associations/set`;
const REMOVE = `${ONE}/associations/remove`;
const SECRET = { mount: 'kv', secret_name: 'web' };
const RULE = { mount: 'kv', secret_name: '*' };
/** Longer than any hold, retry and delay of what these operations leave. */
const LATER = 600;

// The machine may be busy with other suites.
jest.setTimeout(120_000);

interface Operation {
  readonly title: string;
  /** Before the server starts to be killable. */
  prepare?(server: KillableMount): Promise<unknown>;
  carryOut(server: KillableMount): Promise<unknown>;
}

const keys = { granularity: 'secret-key', secret_name_template: 'k-{{ .SecretPath }}-{{ .SecretKey }}' };
const write = async (server: KillableMount, data: object) => server.ask('update', 'kv/data/web', { data });
const settled = async (work: Promise<unknown>, server: KillableMount): Promise<void> => {
  await work;
  await server.advance(1);
};

const operations: Operation[] = [
  { title: 'a secret is linked', carryOut: async (server) => settled(server.ask('update', SET, SECRET), server) },
  {
    title: 'a secret of several keys is linked',
    prepare: async (server) => server.ask('patch', ONE, keys),
    carryOut: async (server) => settled(server.ask('update', SET, SECRET), server),
  },
  {
    title: 'a new version is written',
    prepare: async (server) => server.ask('update', SET, SECRET),
    carryOut: async (server) => settled(write(server, { a: '3' }), server),
  },
  {
    title: 'keys come and go',
    prepare: async (server) => {
      await server.ask('patch', ONE, keys);
      await server.ask('update', SET, SECRET);
    },
    carryOut: async (server) => settled(write(server, { b: 'changed', c: 'new' }), server),
  },
  {
    title: 'a secret is deleted',
    prepare: async (server) => server.ask('update', SET, SECRET),
    carryOut: async (server) => settled(server.ask('delete', 'kv/data/web'), server),
  },
  {
    title: 'a name is changed',
    prepare: async (server) => {
      await server.ask('update', SET, SECRET);
      await server.ask('patch', ONE, keys);
    },
    carryOut: async (server) => settled(server.ask('update', SET, SECRET), server),
  },
  {
    title: 'an association is removed',
    prepare: async (server) => server.ask('update', SET, SECRET),
    carryOut: async (server) => settled(server.ask('update', REMOVE, SECRET), server),
  },
  {
    title: 'a rule is set',
    carryOut: async (server) => settled(server.ask('update', SET, RULE), server),
  },
  {
    title: 'a secret comes and another one goes below a rule',
    prepare: async (server) => server.ask('update', SET, RULE),
    carryOut: async (server) => {
      await server.ask('delete', 'kv/metadata/web');
      await settled(write(server, { a: 'again' }), server);
    },
  },
  {
    title: 'a rule is removed',
    prepare: async (server) => server.ask('update', SET, RULE),
    carryOut: async (server) => settled(server.ask('update', REMOVE, RULE), server),
  },
  {
    title: 'a destination is purged',
    prepare: async (server) => server.ask('update', SET, SECRET),
    carryOut: async (server) => settled(server.ask('delete', ONE, { purge: true }), server),
  },
  {
    title: 'a destination that was purged is made again and takes up what it deleted',
    prepare: async (server) => {
      await server.ask('update', SET, SECRET);
      await server.ask('delete', ONE, { purge: true });
      await server.advance(5);
    },
    carryOut: async (server) => {
      await server.ask('update', ONE, CONNECTION);
      await settled(server.ask('update', SET, SECRET), server);
    },
  },
  {
    title: 'a mount is unmounted',
    prepare: async (server) => server.ask('update', SET, SECRET),
    carryOut: async (server) => settled(server.ask('delete', 'sys/mounts/kv'), server),
  },
  {
    title: 'drift is repaired',
    prepare: async (server) => server.ask('update', SET, SECRET),
    carryOut: async (server) => settled(server.ask('update', `${ONE}/reconcile`), server),
  },
];

describe.each(['marked', 'recorded'] as const)('a server that dies in the middle, where ownership is %s', (ownership) => {
  let clock: ManualClock;
  let provider: MemoryProvider;
  let server: KillableMount;

  beforeEach(async () => {
    clock = manualClock();
    provider = new MemoryProvider({ ownership, softDelete: ownership === 'marked', now: () => server.clock.now() });
    const plugins = [kvEngine, memoryDestination(provider) as unknown as Plugin];
    server = await killableMount(syncEngine, { plugins, clock });
    await server.ask('update', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
    await server.ask('update', ONE, CONNECTION);
    await write(server, { a: '1', b: '2' });
  });
  afterEach(async () => server.storage.die());

  /** What should exist outside by what the server holds inside, asked once everything has settled. */
  async function converges(): Promise<void> {
    provider.hook = undefined;
    server = await server.restart();
    await server.pass(LATER);
    const inside = await server.ask('read', `${ONE}/associations`);
    const entries = Object.values((inside.data as { associated_secrets?: object } | null)?.associated_secrets ?? {}) as {
      sync_status: string;
      sub_key?: string;
      remote_name?: string;
    }[];
    const { data } = ((await server.ask('read', 'kv/data/web')).data ?? {}) as { data?: Record<string, string> | null };
    const expected: Record<string, string> = {};
    for (const { sub_key, remote_name, sync_status } of entries) {
      if (data) expect(sync_status).toBe('SYNCED');
      if (data && remote_name !== undefined) expected[remote_name] = sub_key === undefined ? JSON.stringify(data) : data[sub_key]!;
    }
    expect(provider.values()).toEqual(expected);
    const plan = await server.ask('read', `${ONE}/plan`);
    if (plan.status === 200) expect(plan.data).toMatchObject({ total: 0, in_sync: Object.keys(expected).length });
    const rules = (inside.data as { rules?: object[] } | null)?.rules ?? [];
    if (data && rules.length > 0) expect(entries).not.toEqual([]);
    expect((await server.ask('list', 'sys/sync/associations')).status).toBe(entries.length + rules.length === 0 ? 404 : 200);
  }

  describe.each(operations)('while $title', ({ prepare, carryOut }) => {
    test('at each commit: what exists outside converges to what exists inside', async () => {
      for (let commits = 0, died = true; died; commits += 1) {
        await prepare?.(server);
        await server.advance(60);
        server.storage.dieAfter(commits);
        died = await server.diesIn(carryOut(server));
        await converges();
        expect(commits).toBeLessThan(40);
        await again();
      }
    });

    test('at each call outside, before and after it: what exists outside converges to what exists inside', async () => {
      for (let at = 0, died = true; died; at += 1) {
        await prepare?.(server);
        await server.advance(60);
        let left = at;
        died = false;
        let fell!: () => void;
        const death = new Promise<void>((resolve) => (fell = resolve));
        provider.hook = () => {
          if (left > 0) left -= 1;
          else if (!died) {
            died = true;
            server.storage.die();
            fell();
          }
          if (died) return new Promise<never>(() => undefined);
          return undefined;
        };
        await Promise.race([carryOut(server), server.storage.noticed, death]);
        await converges();
        expect(at).toBeLessThan(40);
        await again();
      }
    });
  });

  /** The world as it was before the first round. */
  async function again(): Promise<void> {
    server.storage.die();
    provider.secrets.clear();
    const plugins = [kvEngine, memoryDestination(provider) as unknown as Plugin];
    server = await killableMount(syncEngine, { plugins, clock: manualClock(server.clock.now()) });
    await server.ask('update', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
    await server.ask('update', ONE, CONNECTION);
    await write(server, { a: '1', b: '2' });
  }
});
