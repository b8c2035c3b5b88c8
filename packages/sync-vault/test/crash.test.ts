import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { killableMount, manualClock, type KillableMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import type { Loss } from '@strongroom/lab';
import { syncEngine } from '../../sync/src/index.ts';
import { vaultDestination } from '../src/index.ts';
import { startStrongroomDoor } from './peers.ts';
import { VaultOutside } from './vault-outside.ts';

const ONE = 'sys/sync/destinations/vault/one';
const SECRET = { mount: 'kv', secret_name: 'web' };
/** Longer than any hold, retry and delay of what these operations leave. Seconds. */
const LATER = 600;

// The machine may be busy with other suites.
jest.setTimeout(240_000);

interface Operation {
  readonly title: string;
  prepare?(server: KillableMount): Promise<unknown>;
  carryOut(server: KillableMount): Promise<unknown>;
}

const link = async (server: KillableMount) => {
  await server.ask('update', `${ONE}/associations/set`, SECRET);
  await server.advance(1);
};
const operations: Operation[] = [
  { title: 'a secret is linked', carryOut: link },
  {
    title: 'a new version is written',
    prepare: link,
    carryOut: async (server) => {
      await server.ask('update', 'kv/data/web', { data: { a: '3' } });
      await server.advance(1);
    },
  },
  {
    title: 'an association is removed',
    prepare: link,
    carryOut: async (server) => {
      await server.ask('update', `${ONE}/associations/remove`, SECRET);
      await server.advance(1);
    },
  },
];

describe('a server that dies in the middle of a copy to another one', () => {
  const outside = new VaultOutside();
  let server: KillableMount;
  beforeAll(async () => void (outside.door = await startStrongroomDoor()), 120_000);
  beforeEach(async () => begin());
  afterEach(async () => server.storage.die());
  afterAll(async () => outside.door?.stop());

  async function begin(): Promise<void> {
    await outside.empty();
    const plugins = [kvEngine, vaultDestination as unknown as Plugin];
    server = await killableMount(syncEngine, { plugins, clock: manualClock() });
    await server.ask('update', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
    await server.ask('update', ONE, { address: outside.door.address, token: 'root', disable_strict_networking: true });
    await server.ask('update', 'kv/data/web', { data: { a: '1', b: '2' } });
  }

  /** What exists outside is what the server holds inside. */
  async function converges(): Promise<void> {
    outside.heal();
    server = await server.restart();
    await server.pass(LATER);
    const found = await server.ask('read', `${ONE}/associations`);
    const linked = Object.values((found.data as { associated_secrets: Record<string, { sync_status: string }> }).associated_secrets);
    expect(linked.map(({ sync_status }) => sync_status)).toEqual(linked.map(() => 'SYNCED'));
    const { data } = (await server.ask('read', 'kv/data/web')).data as { data: object };
    if (linked.length > 0) expect(await outside.see('kv/web')).toEqual(data);
    else expect(await outside.metadata('kv/web')).toEqual({});
  }

  test.each(
    operations.flatMap((operation) =>
      (['request', 'answer'] as const).map((loss): [string, Loss, Operation] => [operation.title, loss, operation]),
    ),
  )(
    'while %s, at each call whose %s is lost: what exists outside converges to what exists inside',
    async (_title, loss, { prepare, carryOut }) => {
      for (let call = 0, died = true; died; call += 1) {
        if (call > 0) await begin();
        await prepare?.(server);
        died = false;
        outside.door.cutAt(call, loss, () => {
          died = true;
          server.storage.die();
        });
        await Promise.race([server.storage.noticed, carryOut(server)]);
        if (!died) {
          outside.heal();
          expect(call).toBeGreaterThan(1);
        }
        await converges();
        expect(call).toBeLessThan(20);
        server.storage.die();
      }
    },
  );
});
