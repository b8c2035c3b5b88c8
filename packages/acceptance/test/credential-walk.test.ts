import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCore, type Core } from '@strongroom/core';
import { databaseEngine } from '@strongroom/database';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { createHttpServer } from '@strongroom/http';
import { startPostgres, type PostgresServer } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../../docs/architecture.md', import.meta.url));

let postgres: PostgresServer;
let core: Core;
let server: Server;
let address: string;

beforeAll(async () => {
  postgres = await startPostgres();
  core = await createCore({ storage: memoryStorage(), plugins: [databaseEngine, postgresqlPlugin], devRootToken: 'root' });
  server = createHttpServer(core) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
});
afterAll(async () => {
  server?.close();
  await core?.close();
  await postgres?.stop();
});

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(address + path, {
    method,
    headers: { 'X-Vault-Token': 'root', 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Our files of which a function ran during the work, as `<package>/src/…`. */
async function filesOf(work: () => Promise<unknown>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0));
    return new Set(ran.flatMap(({ url }) => /\/packages\/([^/]+\/src\/.*)$/.exec(url)?.[1] ?? []));
  } finally {
    session.disconnect();
  }
}

test('the files that docs/architecture.md shows on the way of a credential are at most 30, and each takes part', async () => {
  const stops = [...readFileSync(PAGE, 'utf8').matchAll(/^\|\s*\d+\s*\|\s*`([^`]+)`/gm)].map(([, file]) => file!);
  expect(stops.length).toBeGreaterThan(20);
  expect(stops.length).toBeLessThanOrEqual(30);

  await call('POST', 'sys/mounts/database', { type: 'database' });
  const connection = { plugin_name: 'postgresql-database-plugin', connection_url: postgres.url, allowed_roles: '*' };
  await call('POST', 'database/config/pg', connection);
  const creation = `CREATE ROLE "{{name}}" LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'`;
  await call('POST', 'database/roles/x', { db_name: 'pg', creation_statements: creation });
  const files = await filesOf(async () => call('GET', 'database/creds/x'));
  expect(stops.filter((stop) => !files.has(stop))).toEqual([]);
});
