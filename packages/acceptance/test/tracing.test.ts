import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { userpassAuth } from '@strongroom/auth-userpass';
import { createCore, type Core } from '@strongroom/core';
import { databaseEngine } from '@strongroom/database';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { silentLog } from '@strongroom/engine-sdk';
import { createHttpServer } from '@strongroom/http';
import { kvEngine } from '@strongroom/kv';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { openOtlpTracing, type OtlpTracing, type OtlpTracingOptions } from '@strongroom/tracing';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Collector } from './collector.ts';

const folder = mkdtempSync(join(tmpdir(), 'strongroom-tracing-'));
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Traced {
  readonly core: Core;
  readonly collector: Collector;
  readonly tracing: OtlpTracing;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; body: string }>;
}

async function start(options: Partial<OtlpTracingOptions> = {}): Promise<Traced> {
  const collector = await Collector.start();
  ends.push(() => collector.stop());
  const tracing = openOtlpTracing({ endpoint: collector.endpoint, serviceVersion: '1', log: silentLog, ...options });
  const { tracer } = tracing;
  const plugins = [kvEngine, userpassAuth, databaseEngine, postgresqlPlugin];
  const core: Core = await createCore({ storage: memoryStorage(), plugins, devRootToken: 'root', tracer });
  const server = createHttpServer(core, { tracer }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await core.close();
    await tracing.close();
  });
  return {
    core,
    collector,
    tracing,
    async call(method, path, body, headers = {}) {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/${path}`, {
        method,
        headers: { 'X-Vault-Token': 'root', 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.text() };
    },
  };
}

/** Ends the server, so that all spans are sent. */
async function sent({ tracing }: Traced): Promise<void> {
  await tracing.close();
}

describe('traces', () => {
  test('show the steps of a write, of a credential and of a login, and nothing that is secret', async () => {
    const traced = await start({ headers: { Authorization: 'Bearer collector' }, serviceName: 'vault-a' });
    const { call, collector } = traced;
    await call('POST', 'sys/audit/file', { type: 'file', options: { file_path: join(folder, 'audit.log') } });
    await call('POST', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    const written = await call('POST', 'secret/data/name-of-a-secret', { data: { code: 'the-value' } });
    await call('POST', 'sys/mounts/database', { type: 'database' });
    await call('POST', 'database/config/pg', {
      plugin_name: 'postgresql-database-plugin',
      connection_url: postgres.url,
      allowed_roles: '*',
    });
    const creation = `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'`;
    await call('POST', 'database/roles/x', { db_name: 'pg', creation_statements: creation });
    const credential = JSON.parse((await call('GET', 'database/creds/x')).body) as { data: { username: string; password: string } };
    const pool = { mount: 'database/', type: 'database', target: 'pg', open: 1, idle: 1, waiting: 0, limit: expect.any(Number) };
    expect(traced.core.poolFigures()).toEqual([pool]);
    await call('POST', 'sys/auth/userpass', { type: 'userpass' });
    await call('POST', 'auth/userpass/users/ann', { password: 'her-password' });
    const login = JSON.parse((await call('POST', 'auth/userpass/login/ann', { password: 'her-password' })).body) as {
      auth: { client_token: string };
    };
    await sent(traced);

    const steps = (name: string): string[] => [...new Set(collector.tree(name).filter((step) => !step.includes('storage get')))];
    expect(steps('create secret/data/{path:all}')).toEqual([
      'create secret/data/{path:all}',
      '  authorize',
      '    check token',
      '  audit request',
      '  engine',
      '    transaction',
      '      storage commit',
      '  audit response',
    ]);
    expect(steps('read database/creds/{name}')).toEqual(
      expect.arrayContaining(['  engine', '    transaction', '      storage commit', '    outside call', '  issue lease']),
    );
    expect(steps('update auth/userpass/login/{username}')).toEqual(
      expect.arrayContaining(['  authorize', '  audit request', '  engine', '  issue token', '    transaction', '  audit response']),
    );
    const root = collector.spans.find(({ name }) => name === 'create secret/data/{path:all}')!;
    expect(root.kind).toBe(2);
    expect(root.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/secret/data/{path:all}',
      'http.response.status_code': 200,
      'strongroom.request.id': (JSON.parse(written.body) as { request_id: string }).request_id,
      'strongroom.mount.path': 'secret/',
      'strongroom.mount.type': 'kv',
    });
    expect(collector.spans.find(({ name }) => name === 'outside call')!.attributes).toMatchObject({ 'strongroom.target': 'pg' });
    expect(collector.resource).toMatchObject({ 'service.name': 'vault-a', 'service.version': '1' });
    expect(collector.headers['authorization']).toBe('Bearer collector');
    const { username, password } = credential.data;
    for (const secret of ['name-of-a-secret', 'the-value', 'root', 'her-password', 'ann', username, password, login.auth.client_token])
      expect(collector.text).not.toContain(`"${secret}"`);
    expect(collector.text).not.toContain('name-of-a-secret');
  });

  test('begin again for each request, unless callers are believed', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const doubting = await start();
    await doubting.call('GET', 'sys/mounts', undefined, { traceparent });
    await sent(doubting);
    const root = doubting.collector.spans.find(({ name }) => name === 'read sys/mounts')!;
    expect([root.traceId === '0af7651916cd43dd8448eb211c80319c', root.parentSpanId]).toEqual([false, undefined]);
    const believing = await start({ acceptTraceparent: true });
    await believing.call('GET', 'sys/mounts', undefined, { traceparent });
    await believing.call('GET', 'sys/mounts', undefined, { traceparent: 'no-such-thing' });
    await sent(believing);
    const roots = believing.collector.spans.filter(({ name }) => name === 'read sys/mounts');
    expect(roots.map(({ traceId, parentSpanId }) => [traceId === '0af7651916cd43dd8448eb211c80319c', parentSpanId])).toEqual([
      [true, 'b7ad6b7169203331'],
      [false, undefined],
    ]);
  });

  test('name failures by kind, and unknown paths not at all', async () => {
    const traced = await start();
    await traced.call('POST', 'sys/mounts/database', { type: 'database' });
    const wrong = { plugin_name: 'postgresql-database-plugin', connection_url: 'postgresql://u:hidden@127.0.0.1:1/x', allowed_roles: '*' };
    await traced.call('POST', 'database/config/pg', wrong);
    await traced.call('GET', 'no/such/secret-path');
    await sent(traced);
    const outside = traced.collector.spans.find(({ name }) => name === 'outside call');
    expect(outside ?? { failed: true }).toMatchObject({ failed: true });
    expect(traced.collector.text).not.toMatch(/hidden|secret-path/);
  });

  test('of which few are wanted cost no spans for the others', async () => {
    const traced = await start({ sampleRatio: 0 });
    await traced.call('GET', 'sys/mounts');
    await sent(traced);
    expect([traced.collector.spans, traced.tracing.counts]).toEqual([[], { exported: 0, dropped: 0, waiting: 0 }]);
  });

  test('are dropped, and counted, while the collector refuses them; requests notice nothing', async () => {
    const traced = await start();
    traced.collector.respond = (response) => void response.writeHead(400).end('hostile');
    expect((await traced.call('GET', 'sys/mounts')).status).toBe(200);
    await sent(traced);
    expect(traced.tracing.counts).toMatchObject({ exported: 0, waiting: 0 });
    expect(traced.tracing.counts.dropped).toBeGreaterThan(0);
  });
});
