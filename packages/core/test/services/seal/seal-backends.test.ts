import { afterEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import type { ConfiguredSeal } from '../../../src/index.ts';
import { FakeKms } from './fake-kms.ts';
import { SealedServer } from './sealed-server.ts';

const ONE = { recovery_shares: 1, recovery_threshold: 1 };

describe('the seals of a server', () => {
  const servers: SealedServer[] = [];
  afterEach(async () => {
    for (const { core } of servers.splice(0)) await core.close();
  });
  const world = () => {
    const store = sharedMemory();
    const [east, west] = [new FakeKms(), new FakeKms()];
    const both = [east.seal('awskms', { name: 'east' }), west.seal('gcpckms', { name: 'west', priority: 2 })];
    const start = async (seals: readonly ConfiguredSeal[] = both): Promise<SealedServer> => {
      const server = await SealedServer.start(store, seals);
      servers.push(server);
      return server;
    };
    return { store, east, west, start };
  };
  const backends = async ({ core }: SealedServer): Promise<Record<string, unknown>> => {
    const { status, raw } = await core.handle({ operation: 'read', path: 'sys/seal-backend-status' });
    expect(status).toBe(200);
    return JSON.parse(String(raw!.body)) as Record<string, unknown>;
  };

  test('are shown to everybody: before the initialization, open and sealed, each with its health', async () => {
    const { east, west, start } = world();
    const server = await start();
    expect(await backends(server)).toMatchObject({ healthy: true, fully_wrapped: false });
    await server.init(ONE);
    await server.after(1);
    const healthy = { configured: true, disabled: false, healthy: true };
    expect(await backends(server)).toEqual({
      healthy: true,
      fully_wrapped: true,
      backends: [
        { name: 'east', type: 'awskms', priority: 1, ...healthy },
        { name: 'west', type: 'gcpckms', priority: 2, ...healthy },
      ],
    });
    west.failure = 'permission';
    await server.after('10m');
    const since = (await backends(server))['unhealthy_since'];
    expect(since).toEqual(expect.stringMatching(/Z$/));
    const lost = { name: 'west', healthy: false, failure: 'permission', unhealthy_since: since };
    expect(await backends(server)).toMatchObject({
      healthy: false,
      fully_wrapped: true,
      backends: [{ name: 'east', healthy: true }, lost],
    });
    east.failure = 'throttled';
    const sealed = await start();
    expect(await backends(sealed)).toMatchObject({
      healthy: false,
      backends: [
        { name: 'east', failure: 'throttled' },
        { name: 'west', failure: 'permission' },
      ],
    });
    expect(sealed.core.sealUnreachableSeconds().map(({ name }) => name)).toEqual(['east', 'west']);
    east.failure = undefined;
    await sealed.after('1m');
    expect((await sealed.status()).sealed).toBe(false);
    expect(await backends(sealed)).toMatchObject({
      backends: [
        { name: 'east', healthy: true },
        { name: 'west', healthy: false },
      ],
    });
  });

  test('without one that opens by itself are the shares of the operators', async () => {
    const { start } = world();
    const server = await start([]);
    expect(await backends(server)).toMatchObject({ healthy: true, fully_wrapped: true, backends: [{ name: 'shamir', disabled: false }] });
    const { keys, root_token: token } = await server.init({ secret_shares: 1, secret_threshold: 1 });
    await server.unseal(keys[0]!);
    const { status, errors } = await server.core.handle({ operation: 'update', path: 'sys/sealwrap/rewrap', data: {}, token });
    expect([status, errors]).toEqual([400, ['operators hold the unseal key in shares: there is nothing that a seal has wrapped']]);
  });

  test('say between which of them a migration waits', async () => {
    const { east, west, start } = world();
    const first = await start([east.seal('awskms')]);
    const { recovery_keys: shares } = await first.init(ONE);
    await first.core.close();
    const second = await start([east.seal('awskms', { disabled: true }), west.seal('gcpckms')]);
    expect(await backends(second)).toMatchObject({
      fully_wrapped: false,
      backends: [
        { name: 'gcpckms', disabled: false },
        { name: 'awskms', disabled: true },
      ],
      migration: { from: 'awskms', to: 'gcpckms' },
    });
    expect(await second.unseal(shares![0]!, true)).toEqual([200, undefined]);
    expect(await backends(second)).not.toHaveProperty('migration');
    expect(await backends(second)).toMatchObject({ fully_wrapped: true });
  });

  test('wrap again at once where that is asked, and the answer has the versions of their keys', async () => {
    const { east, west, start } = world();
    const server = await start();
    const { root_token: token } = await server.init(ONE);
    await server.after(1);
    const call = async (operation: 'read' | 'update', as = token) =>
      server.core.handle({ operation, path: 'sys/sealwrap/rewrap', data: {}, token: as });
    east.rotate();
    west.failure = 'away';
    expect((await call('update')).data).toEqual({
      is_running: false,
      entries: { processed: 2, succeeded: 1, failed: 1 },
      seals: [
        { name: 'east', type: 'awskms', key_id: '2', failure: null },
        { name: 'west', type: 'gcpckms', key_id: '1', failure: 'the seal "west" cannot be reached' },
      ],
    });
    east.forget(1);
    west.failure = undefined;
    west.rotate();
    await call('update');
    expect((await call('read')).data).toMatchObject({ entries: { failed: 0 }, seals: [{ key_id: '2' }, { key_id: '2' }] });
    const policy = 'path "sys/sealwrap/rewrap" { capabilities = ["read", "update"] }';
    await server.core.handle({ operation: 'update', path: 'sys/policies/acl/p', data: { policy }, token });
    const made = await server.core.handle({ operation: 'update', path: 'auth/token/create', data: { policies: ['p'] }, token });
    expect((await call('update', made.auth!.client_token)).status).toBe(403);
  });

  test('need a person while they fail: who may read their status sees each, and that it works again', async () => {
    const { east, west, start } = world();
    const server = await start();
    const { root_token: token } = await server.init(ONE);
    await server.after(1);
    const items = async (as = token): Promise<unknown> => {
      const asked = { operation: 'read', path: 'sys/internal/ui/attention', data: { kind: 'seal' }, token: as } as const;
      return ((await server.core.handle(asked)).data as { items: unknown }).items;
    };
    expect(await items()).toEqual([]);
    west.failure = 'away';
    await server.after('10m');
    const failing = { kind: 'seal', target: 'seal west (gcpckms)', message: 'the seal "west" cannot be reached' };
    expect(await items()).toMatchObject([{ ...failing, severity: 'warning', attempts: 1, things: [{ retry: 'sys/sealwrap/rewrap' }] }]);
    east.failure = 'away';
    await server.after('10m');
    expect(await items()).toMatchObject([{ severity: 'critical' }, { severity: 'critical' }]);
    const made = await server.core.handle({ operation: 'update', path: 'auth/token/create', data: { policies: ['default'] }, token });
    expect(await items(made.auth!.client_token)).toEqual([]);
    [east.failure, west.failure] = [undefined, undefined];
    await server.core.handle({ operation: 'update', path: 'sys/sealwrap/rewrap', data: {}, token });
    expect(await items()).toEqual([]);
  });
});
