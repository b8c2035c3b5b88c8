import { hostname } from 'node:os';
import { API_VERSION, BadRequest, type Plugin } from '@strongroom/engine-sdk';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { pluginPaths } from '../../../src/api/sys/path-plugins.ts';
import { ManualClock } from '../../services/audit/manual-clock.ts';
import { call, type Answer } from '../../services/identity/call.ts';

const plugin = (kind: string, name: string, version?: string): Plugin => ({
  kind,
  name,
  apiVersion: API_VERSION,
  ...(version ? { version } : {}),
});
const listed = [
  plugin('secret', 'kv'),
  plugin('auth', 'ldap', '1.2.3'),
  plugin('database', 'postgresql-database-plugin'),
  plugin('database', 'cassandra-database-plugin'),
  plugin('audit', 'file'),
];
const refused = [{ plugin: { ...plugin('database', 'old-database-plugin', '0.3.0'), apiVersion: 1 }, reason: 'built for plugin API 1' }];

let reloaded: object[];
let failure: Error | undefined;
let ask: (operation: Parameters<typeof call>[1], path: string, body?: Record<string, unknown>) => Promise<Answer>;

beforeEach(() => {
  reloaded = [];
  failure = undefined;
  const paths = pluginPaths({
    catalogue: { list: () => listed, refused: () => refused, isBuiltIn: ({ name }) => name !== 'postgresql-database-plugin' },
    reload: async (what) => {
      reloaded.push(what);
      if (failure) throw failure;
    },
    clock: new ManualClock(),
  });
  ask = (operation, path, body) => call(paths, operation, path, body);
});

describe('the catalogue', () => {
  test('shows names by kind, and every plugin with its version', async () => {
    const { data } = await ask('read', 'plugins/catalog');
    expect(data).toMatchObject({
      auth: ['ldap'],
      database: ['cassandra-database-plugin', 'old-database-plugin', 'postgresql-database-plugin'],
      secret: ['kv'],
      audit: ['file'],
    });
    expect((data as { detailed: object[] }).detailed[1]).toEqual({
      type: 'auth',
      name: 'ldap',
      version: 'v1.2.3+builtin.strongroom',
      builtin: true,
      deprecation_status: 'supported',
    });
  });

  test('tells what came with the server from what an operator added', async () => {
    expect(await ask('read', 'plugins/catalog/database/postgresql-database-plugin')).toMatchObject({
      data: { builtin: false, version: 'v2.0.0' },
    });
    expect(await ask('read', 'plugins/catalog/database/cassandra-database-plugin')).toMatchObject({
      data: { builtin: true, version: 'v2.0.0+builtin.strongroom' },
    });
  });

  test('lists one kind, and has no reading of it', async () => {
    expect(await ask('list', 'plugins/catalog/database')).toEqual({
      status: 200,
      data: { keys: ['cassandra-database-plugin', 'old-database-plugin', 'postgresql-database-plugin'] },
    });
    expect(await ask('read', 'plugins/catalog/database')).toMatchObject({ status: 405 });
    expect(await ask('list', 'plugins/catalog/toys')).toMatchObject({
      status: 400,
      errors: [expect.stringMatching(/^"toys" is not a supported plugin type/)],
    });
  });

  test('tells about one plugin, by its version if one is given', async () => {
    const ldap = {
      name: 'ldap',
      args: null,
      command: '',
      sha256: '',
      builtin: true,
      version: 'v1.2.3+builtin.strongroom',
      oci: false,
      declarative: true,
      deprecation_status: 'supported',
    };
    expect(await ask('read', 'plugins/catalog/auth/ldap')).toEqual({ status: 200, data: ldap });
    expect(await ask('read', 'plugins/catalog/auth/ldap', { version: 'v1.2.3+builtin.strongroom' })).toEqual({ status: 200, data: ldap });
    expect(await ask('read', 'plugins/catalog/auth/ldap', { version: 'v9.9.9' })).toMatchObject({ status: 404 });
    expect(await ask('read', 'plugins/catalog/auth/kv')).toMatchObject({ status: 404 });
  });

  test('shows a plugin that the server refuses, with the reason', async () => {
    const { data } = await ask('read', 'plugins/catalog');
    const entries = (data as { detailed: { name: string; refused?: string }[] }).detailed;
    expect(entries.filter((entry) => entry.refused !== undefined)).toMatchObject([
      { name: 'old-database-plugin', version: 'v0.3.0+builtin.strongroom', refused: 'built for plugin API 1' },
    ]);
    expect(await ask('read', 'plugins/catalog/database/old-database-plugin')).toMatchObject({
      data: { refused: 'built for plugin API 1' },
    });
  });

  test('answers clients that name no kind with nothing but a warning', async () => {
    const paths = pluginPaths({
      catalogue: { list: () => listed, refused: () => refused, isBuiltIn: ({ name }) => name !== 'postgresql-database-plugin' },
      reload: async () => {},
    });
    const read = paths.find((declared) => declared.pattern === 'plugins/catalog/{type}')?.operations.read;
    expect(await read?.handle({ data: { type: 'ldap' } } as never)).toEqual({
      data: null,
      warnings: ['Deprecated API endpoint, cannot read plugin information from catalog for "ldap"'],
    });
  });

  test.each([
    [{}, 'missing SHA-256 value'],
    [{ sha_256: 'ab' }, 'missing command value'],
    [{ version: 'one' }, 'version "one" is not a valid semantic version: malformed version: one'],
    [{ version: 'v1.0.0+builtin' }, `version "v1.0.0+builtin" is not allowed because 'builtin' is a reserved metadata identifier`],
    [
      { sha256: 'ab', command: 'c', version: 'v1.0.0' },
      '1 error occurred:\n\t* could not set plugin, plugin directory is not configured: plugins are packages that the configuration lists\n\n',
    ],
  ])('refuses to register %j', async (body, text) => {
    expect(await ask('update', 'plugins/catalog/database/mine', body)).toEqual({ status: 400, data: null, errors: [text] });
  });

  test('refuses to remove what the configuration lists, and has nothing against removing what is not there', async () => {
    expect(await ask('delete', 'plugins/catalog/auth/ldap')).toMatchObject({
      status: 400,
      errors: ['plugin "ldap" is listed by the configuration; remove it there'],
    });
    expect(await ask('delete', 'plugins/catalog/auth/none')).toMatchObject({ status: 204 });
  });
});

describe('reloading', () => {
  const id = (answer: Answer): string => (answer.data as { reload_id: string }).reload_id;
  const status = (reload_id: string): Promise<Answer> => ask('read', 'plugins/reload/backend/status', { reload_id });

  test('a plugin or mounts answers with an id whose status can be asked', async () => {
    const answer = await ask('update', 'plugins/reload/backend', { plugin: 'ldap' });
    expect(answer.status).toBe(200);
    await ask('update', 'plugins/reload/backend', { mounts: 'secret/,db/' });
    await ask('update', 'plugins/reload/auth/ldap');
    expect(reloaded).toEqual([{ plugin: 'ldap' }, { mounts: ['secret/', 'db/'] }, { plugin: 'ldap' }]);
    expect(await status(id(answer))).toMatchObject({
      status: 200,
      data: { reload_id: id(answer), results: { [hostname()]: { timestamp: '2030-01-02T03:04:05.678Z', error: '' } } },
    });
  });

  test('that fails says why', async () => {
    failure = new BadRequest('no such mount');
    for (const scope of ['', 'global'])
      expect(await ask('update', 'plugins/reload/backend', { mounts: 'x', scope })).toMatchObject({
        status: 400,
        errors: ['no such mount'],
      });
  });

  test.each([
    [{}, 'plugin or mounts must be provided'],
    [{ plugin: 'ldap', mounts: 'a' }, 'plugin and mounts cannot be set at the same time'],
    [{ plugin: 'zz' }, 'plugin not found in the catalog: "zz"'],
    [{ plugin: 'ldap', scope: 'galaxy' }, "reload scope must be omitted or 'global'"],
  ])('%j is refused', async (body, text) => {
    expect(await ask('update', 'plugins/reload/backend', body)).toEqual({ status: 400, data: null, errors: [text] });
    expect(reloaded).toEqual([]);
  });

  test('an unknown id has no status', async () => {
    expect(await status('nope')).toMatchObject({ status: 404 });
    expect(await status('')).toMatchObject({ status: 400, errors: ['reload_id is required'] });
  });
});
