import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, jest } from '@jest/globals';
import type { CoreResponse, RequestOperation } from '@strongroom/core';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { type PostgresServer, startPostgres } from '@strongroom/lab';
import { databaseEngine } from '../src/index.ts';

interface Recorded {
  readonly line: string;
  readonly status: number;
  readonly errors?: readonly string[];
  readonly data?: unknown;
  readonly renewable?: boolean;
  readonly lease_duration?: number;
}

const OPERATIONS: Record<string, RequestOperation> = { GET: 'read', LIST: 'list', POST: 'update', PUT: 'update', DELETE: 'delete' };

/** Where we answer otherwise on purpose: a caller's mistake is a 4xx, what contradicts itself is refused, and what will fail later is warned of. */
const DEVIATIONS: Record<string, { status: number; errors?: string[] }> = {
  'POST wdb/roles/bad {"db_name":"pg","default_ttl":"2h","max_ttl":"1h"}': {
    status: 400,
    errors: ['default_ttl (7200 s) is longer than max_ttl (3600 s)'],
  },
  'POST wdb/roles/denied {"db_name":"pg","creation_statements":["CREATE ROLE \\"{{name}}\\""]}': { status: 200 },
  'POST wdb/roles/app2 {"db_name":"nodb","creation_statements":["x"]}': { status: 200 },
  'POST wdb/roles/app2 {"db_name":"pg","creation_statements":["SELEC nonsense"]}': { status: 200 },
  'GET wdb/creds/denied': { status: 400 },
  'GET wdb/creds/app2': { status: 400 },
  'POST wdb/static-roles/st {"db_name":"pg","username":"wstatic","rotation_period":"1h","rotation_schedule":"* * * * *"} !status': {
    status: 400,
  },
  'POST wdb/reset/none': { status: 400 },
  'POST wdb/rotate-root/none !status': { status: 400 },
};

/** Values that differ from run to run, by what they must look like. */
const VOLATILE: Record<string, RegExp> = {
  username: /^(v-root-app-[A-Za-z0-9]{20}-\d{10}|postgres|wstatic)$/,
  password: /^[A-Za-z0-9-]{20}$/,
  lease_id: /^wdb\/creds\/app\/[A-Za-z0-9]{24}$/,
  last_vault_rotation: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
};

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('recorded calls', () => {
  const recording = JSON.parse(readFileSync(new URL('recorded-calls.json', import.meta.url), 'utf8')) as Recorded[];
  let server: PostgresServer;
  let mount: TestMount;
  let lease = '';
  beforeAll(async () => {
    server = await startPostgres();
    await server.query(`CREATE ROLE wstatic LOGIN PASSWORD 'x'`);
    mount = await mountForTest(databaseEngine, { plugins: [postgresqlPlugin], clock: manualClock(new Date()), path: 'elsewhere' });
  }, 60_000);
  afterAll(async () => {
    await mount.close();
    await server.stop();
  });

  const answers = new Map<Recorded, CoreResponse>();
  test.each(recording.map((recorded, index) => [index + 1, recorded.line.replace(/ !.*| >.*/, ''), recorded] as const))(
    '%i: %s',
    async (_, __, recorded) => {
      const [, verb, path, body] = /^(\w+) (\S+)(?: (\{.*\}))?/.exec(recorded.line)!;
      const text = (body ?? '')
        .replaceAll('$l1', lease)
        .replaceAll('127.0.0.1:5544', `${server.host}:${server.port}`)
        .replaceAll('"rootpw"', JSON.stringify(server.password));
      const answer = await mount.call(OPERATIONS[verb!]!, path!, text === '' ? {} : { data: JSON.parse(text) as Record<string, unknown> });
      answers.set(recorded, answer);
      if (recorded.line.includes('>l1=')) lease = answer.leaseId;
      const wanted = { ...recorded, ...DEVIATIONS[recorded.line] };
      expect(answer.status).toBe(wanted.status);
      if (wanted.errors && !recorded.line.includes('!status')) expect(answer.errors).toEqual(wanted.errors);
      if (recorded.renewable !== undefined) expect(answer.renewable).toBe(recorded.renewable);
      if (recorded.lease_duration !== undefined) expect(answer.leaseDuration).toBe(recorded.lease_duration);
      if (recorded.data !== undefined && path!.startsWith('wdb/')) expectCovers(answer.data, recorded.data);
    },
  );
});

/** Every key of `recorded` is there with its value; extra keys are allowed. */
function expectCovers(answered: unknown, recorded: unknown, key = ''): void {
  if (VOLATILE[key]) expect(String(answered)).toMatch(VOLATILE[key]);
  else if (key === 'connection_url')
    expect(String(answered)).toMatch(/^postgresql:\/\/\{\{username\}\}:\{\{password\}\}@127\.0\.0\.1:\d+\/postgres/);
  else if (recorded !== null && typeof recorded === 'object' && !Array.isArray(recorded)) {
    for (const [name, value] of Object.entries(recorded)) expectCovers((answered as Record<string, unknown>)[name], value, name);
  } else expect(answered).toEqual(recorded);
}
