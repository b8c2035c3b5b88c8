// eslint-disable-next-line no-restricted-syntax -- PostgreSQL keeps the time of its failovers, and is asked until it is through
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createCore, type Core, type CoreResponse } from '@strongroom/core';
import { kvEngine } from '@strongroom/kv';
import { describeWhere, standbyMissing, startFreezingProxy, startPostgres, type PostgresServer } from '@strongroom/lab';
import { postgresqlStorage } from '@strongroom/storage-postgresql';
import { NO_SOURCES } from '../src/metrics/metric-sources.ts';
import { ServerMetrics } from '../src/metrics/server-metrics.ts';

const ROOT = 'root';
const servers: PostgresServer[] = [];
const cores: Core[] = [];

afterEach(async () => {
  await Promise.all(cores.splice(0).map((core) => core.close()));
  for (const server of servers.splice(0).reverse()) await server.stop();
}, 60_000);

async function postgres(options: Parameters<typeof startPostgres>[0] = {}): Promise<PostgresServer> {
  const server = await startPostgres(options);
  servers.push(server);
  return server;
}

interface Node {
  readonly core: Core;
  readonly metrics: ServerMetrics;
  call(operation: 'read' | 'update', path: string, data?: Record<string, unknown>, token?: string): Promise<CoreResponse>;
}

async function node(connectionUrl: string): Promise<Node> {
  const metrics = new ServerMetrics({ ...NO_SOURCES, sealed: () => false });
  const storage = metrics.counting(await postgresqlStorage({ connectionUrl }));
  const core = await createCore({ storage, plugins: [kvEngine], seal: { type: 'static', key: Buffer.alloc(32, 1) } });
  cores.push(core);
  if (!(await core.initialized())) await core.openForDevelopment(ROOT);
  return {
    core,
    metrics,
    call: async (operation, path, data, token = ROOT) =>
      core.handle({ operation, path, remoteAddress: '127.0.0.1', token, ...(data ? { data } : {}) }),
  };
}

/** Until it answers so; the answer that it gave last otherwise. */
async function until(status: number, ms: number, call: () => Promise<CoreResponse>): Promise<number> {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await call();
    if (answer.status === status || performance.now() > end) return answer.status;
    await delay(25);
  }
}

describe('a server whose connections for change notifications are dead', () => {
  test('decides nothing by copies older than 11 s: it answers 503 with the reason, shows it, and goes on at the first reading', async () => {
    const server = await postgres();
    const proxy = await startFreezingProxy(server);
    const one = await node(server.url);
    const two = await node(server.url.replace(String(server.port), String(proxy.port)));
    await one.call('update', 'sys/mounts/secret', { type: 'kv' });
    await one.call('update', 'secret/a', { value: 'a' });
    const policy = (capability: string) => ({ policy: `path "secret/*" { capabilities = ["${capability}"] }` });
    await one.call('update', 'sys/policies/acl/p', policy('read'));
    const { client_token: token } = (await one.call('update', 'auth/token/create', { policies: 'p' })).auth!;
    const read = () => two.call('read', 'secret/a', undefined, token);
    expect(await until(200, 5_000, read)).toBe(200);
    // Connections that listen for and read change notifications; everything else passes.
    proxy.freeze('strongroom ');
    const frozen = performance.now();
    await one.call('update', 'sys/policies/acl/p', policy('deny'));
    let lastGranted = 0;
    let refused: CoreResponse | undefined;
    while (performance.now() - frozen < 13_000) {
      const answer = await read();
      if (answer.status === 200) lastGranted = performance.now() - frozen;
      else refused = answer;
      await delay(50);
    }
    expect(lastGranted).toBeGreaterThan(1_000);
    expect(lastGranted).toBeLessThan(11_000);
    expect(refused).toMatchObject({
      status: 503,
      errors: [expect.stringMatching(/^the changes of other servers could not be read for 1\d s: PostgreSQL/)],
    });
    const health = await two.call('read', 'sys/health', undefined, '');
    expect(health.status).toBe(503);
    expect(JSON.parse(String(health.raw?.body))).toMatchObject({
      initialized: true,
      sealed: false,
      warnings: [expect.stringMatching(/other servers/)],
    });
    const shown = /^strongroom_store_staleness_seconds (\S+)$/m.exec(await two.metrics.render())?.[1];
    expect(Number(shown)).toBeGreaterThan(10);
    proxy.thaw();
    expect(await until(403, 8_000, read)).toBe(403);
    expect((await two.call('read', 'sys/health', undefined, '')).status).toBe(200);
    await proxy.close();
  }, 60_000);
});

describeWhere(await standbyMissing(), 'servers over a PostgreSQL that fails over', () => {
  test('answer from no mount and no policy that the store lost, and every write to them fails', async () => {
    const primary = await postgres();
    const standby = await postgres({ standbyOf: primary });
    const url = primary.url.replace(`127.0.0.1:${primary.port}`, `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`);
    const nodes = [await node(url), await node(url), await node(url)];
    const one = nodes[0]!;
    await one.call('update', 'sys/mounts/kept', { type: 'kv' });
    await one.call('update', 'sys/policies/acl/p', { policy: 'path "kept/*" { capabilities = ["deny"] }' });
    const { client_token: token } = (await one.call('update', 'auth/token/create', { policies: 'p' })).auth!;
    const [row] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
    while (!(await standby.query<{ yes: boolean }>('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes', [row!.lsn]))[0]?.yes)
      await delay(20);
    await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
    await standby.query('SELECT pg_reload_conf()');
    while ((await primary.query('SELECT FROM pg_stat_replication')).length > 0) await delay(20);
    // From here on nothing reaches the standby.
    await one.call('update', 'sys/mounts/lost', { type: 'kv' });
    await one.call('update', 'sys/policies/acl/p', { policy: 'path "kept/*" { capabilities = ["create", "update", "read"] }' });
    for (const each of nodes) {
      expect(await until(204, 5_000, () => each.call('update', 'lost/a', { value: 'a' }))).toBe(204);
      expect(await until(204, 5_000, () => each.call('update', 'kept/a', { value: 'a' }, token))).toBe(204);
    }
    await primary.crash();
    const acknowledged: string[] = [];
    let going = true;
    const writers = nodes.flatMap((each, i) =>
      [ROOT, token].map(async (as) => {
        while (going) {
          const path = as === ROOT ? 'lost/b' : 'kept/b';
          const { status } = await each.call('update', path, { value: 'b' }, as);
          if (status < 300) acknowledged.push(`node ${i}: ${path} ${status}`);
          await delay(10);
        }
      }),
    );
    await standby.promote();
    const promoted = performance.now();
    for (const each of nodes) {
      expect(await until(404, 5_000, () => each.call('update', 'lost/c', { value: 'c' }))).toBe(404);
      expect(await until(403, 5_000, () => each.call('update', 'kept/c', { value: 'c' }, token))).toBe(403);
      expect(Object.keys((await each.call('read', 'sys/mounts')).data as object)).not.toContain('lost/');
    }
    expect(performance.now() - promoted).toBeLessThan(5_000);
    going = false;
    await Promise.all(writers);
    expect(acknowledged).toEqual([]);
    for (const each of nodes) expect((await each.call('update', 'kept/d', { value: 'd' })).status).toBe(204);
  }, 120_000);
});
