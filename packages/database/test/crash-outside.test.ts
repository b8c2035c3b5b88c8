import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { opensearchPlugin } from '@strongroom/database-opensearch';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { type CallCutter, type Loss, type OpensearchDouble, startCallCutter, startOpensearchDouble } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';

jest.setTimeout(60_000);

const LOSSES: readonly Loss[] = ['request', 'answer'];
const CREATION = '{"role_definition":{"cluster_permissions":["cluster_composite_ops_ro"]}}';
/** A role of its own makes a creation of three looks and three changes, and a removal of two looks and three; the last round of each runs through. */
const CREATION_CALLS = 6;
const REMOVAL_CALLS = 5;
const rounds = (calls: number): [number, Loss][] =>
  Array.from({ length: calls }, (_, call) => LOSSES.map((loss): [number, Loss] => [call, loss])).flat();

describe('a server that dies at a call of OpenSearch', () => {
  let double: OpensearchDouble;
  let cutter: CallCutter;
  let server: KillableMount;
  beforeAll(async () => {
    double = await startOpensearchDouble();
    cutter = await startCallCutter(double.port);
  });
  afterAll(async () => {
    await cutter?.stop();
    await double?.stop();
  });
  beforeEach(async () => {
    cutter.open();
    server = await killableMount(databaseEngine, { plugins: [opensearchPlugin] });
    const login = { url: cutter.url, username: double.superuser, password: double.password };
    const connection = { plugin_name: 'opensearch-database-plugin', allowed_roles: '*', ...login };
    expect((await server.ask('update', 'database/config/search', connection)).status).toBe(204);
    await server.ask('update', 'database/roles/app', { db_name: 'search', creation_statements: CREATION, default_ttl: '1h' });
  });
  afterEach(async () => {
    cutter.open();
    await server.close();
  });

  const dieAtCall = async (call: number, loss: Loss, work: () => Promise<unknown>): Promise<boolean> => {
    let lost = false;
    cutter.cutAt(call, loss, () => {
      lost = true;
      server.storage.die();
    });
    const running = work();
    await Promise.race([server.storage.noticed, running]);
    // What still runs of the dead has to come to its end before the next one begins.
    if (lost) await Promise.race([server.storage.noticed, running]);
    cutter.open();
    server = await server.restart();
    return lost;
  };
  const made = async (kind: string): Promise<string[]> => {
    const authorization = `Basic ${Buffer.from(`${double.superuser}:${double.password}`).toString('base64')}`;
    const response = await fetch(`http://127.0.0.1:${double.port}/_plugins/_security/api/${kind}`, { headers: { authorization } });
    return Object.keys((await response.json()) as object).filter((name) => name.startsWith('v-'));
  };
  const everything = async (): Promise<string[][]> => Promise.all(['internalusers', 'roles', 'rolesmapping'].map(made));
  const leases = async (): Promise<string[]> =>
    ((await server.ask('list', 'sys/leases/lookup/database/creds/app')).data as { keys: string[] } | null)?.keys ?? [];
  const revoke = async (lease: string | undefined) =>
    server.ask('update', 'sys/leases/revoke', { lease_id: `database/creds/app/${lease}`, sync: true });

  test.each(rounds(CREATION_CALLS + 1))(
    'while a user is created, at call %i, whose %s is lost: user, role and mapping have a lease or are gone',
    async (call, loss) => {
      expect(await dieAtCall(call, loss, async () => server.ask('read', 'database/creds/app'))).toBe(call < CREATION_CALLS);
      await server.pass(240, 9);
      const live = await leases();
      for (const names of await everything()) expect(names).toHaveLength(live.length);
      for (const lease of live) await revoke(lease);
      expect(await everything()).toEqual([[], [], []]);
    },
  );

  test.each(rounds(REMOVAL_CALLS + 1))(
    'while a user is removed, at call %i, whose %s is lost: user, role and mapping are gone in the end',
    async (call, loss) => {
      await server.ask('read', 'database/creds/app');
      const [lease] = await leases();
      expect(await dieAtCall(call, loss, async () => revoke(lease))).toBe(call < REMOVAL_CALLS);
      await server.pass(240, 9);
      if ((await leases()).length > 0) await revoke(lease);
      expect([await leases(), ...(await everything())]).toEqual([[], [], [], []]);
    },
  );
});
