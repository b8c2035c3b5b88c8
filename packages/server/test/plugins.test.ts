import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { API_VERSION, type Plugin } from '@strongroom/engine-sdk';
import type { PluginChoice } from '../src/config/configuration.ts';
import { packagePlugins } from '../src/plugins/package-plugins.ts';
import { offeredPlugins, OFFERED } from '../src/plugins/plugin-list.ts';
import { scratchFolder } from './scratch.ts';

const folder = scratchFolder();

function install(name: string, source: string, manifest: Record<string, unknown> = { exports: { '.': { import: './main.js' } } }): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, type: 'module', ...manifest }));
  writeFileSync(join(path, 'main.js'), source);
}

const named = (name: string): PluginChoice => ({ name, from: folder, at: `server.hcl:${name.length}` });
const load = async (...names: string[]): Promise<Plugin[]> => packagePlugins(names.map(named), (await offeredPlugins()).installed);

install(
  '@acme/good',
  `export const engine = { name: 'acme', kind: 'secret', apiVersion: 2, version: '3.1.0', create: () => ({ paths: [] }) }; export default engine;`,
);
install('pack', `export const list = ['a', 'b'].map((name) => ({ name, kind: 'database', apiVersion: 2 }));`, { main: 'main.js' });
install('old', `export const engine = { name: 'old', kind: 'secret', apiVersion: 0, get create() { throw new Error('was touched'); } };`);
install('strange', `export const engine = { name: 'strange', kind: 'kettle', apiVersion: 2 };`);
install('empty', `export const answer = 42;`);
install('broken', `throw new Error('cannot start here');`);
install('incomplete', `import 'not-there-at-all';`);
install('second-kv', `export const engine = { name: 'kv', kind: 'secret', apiVersion: 2 };`);
install('outside', '', { exports: '../../elsewhere.js' });
writeFileSync(join(folder, 'local.mjs'), `export const plugin = { name: 'local', kind: 'audit', apiVersion: 2 };`);

describe('the plugins of every server', () => {
  test('speak its API, each under a name of its own', async () => {
    const { installed: plugins, absent } = await offeredPlugins();
    expect(absent).toEqual([]);
    expect(plugins.map(({ kind, name }) => `${kind}/${name}`).sort()).toEqual([
      'auth/approle',
      'auth/cert',
      'auth/jwt',
      'auth/kubernetes',
      'auth/ldap',
      'auth/oidc',
      'auth/userpass',
      'database/cassandra-database-plugin',
      'database/influxdb-database-plugin',
      'database/mongodb-database-plugin',
      'database/mssql-database-plugin',
      'database/mysql-aurora-database-plugin',
      'database/mysql-database-plugin',
      'database/mysql-legacy-database-plugin',
      'database/mysql-rds-database-plugin',
      'database/neo4j-database-plugin',
      'database/opensearch-database-plugin',
      'database/postgresql-database-plugin',
      'database/redis-database-plugin',
      'database/valkey-database-plugin',
      'secret/aws',
      'secret/database',
      'secret/kubernetes',
      'secret/kv',
      'secret/ldap',
      'secret/rabbitmq',
      'secret/sync',
      'secret/totp',
      'secret/transit',
      'snapshot-storage/aws-s3',
      'sync-destination/aws-sm',
      'sync-destination/aws-ssm',
      'sync-destination/azure-kv',
      'sync-destination/gcp-sm',
      'sync-destination/gh',
      'sync-destination/kubernetes',
      'sync-destination/vault',
      'sync-destination/vercel-project',
    ]);
    expect(plugins.every(({ apiVersion }) => apiVersion === API_VERSION)).toBe(true);
  });

  test('are those that their offers name, so that one that is not installed is named rightly', async () => {
    for (const { load, brings } of OFFERED) expect((await load()).map(({ kind, name }) => `${kind}/${name}`)).toEqual(brings);
  });

  test('that are not installed are named with their package, and the others are there', async () => {
    const gone = Object.assign(new Error("Cannot find package '@strongroom/cloud' imported from /srv/list.js"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    const offers = OFFERED.map((offer) => (offer.package === '@strongroom/cloud' ? { ...offer, load: () => Promise.reject(gone) } : offer));
    const { installed, absent } = await offeredPlugins(offers);
    expect(installed.map(({ name }) => name)).toEqual(expect.arrayContaining(['kv', 'ldap', 'database']));
    expect(absent).toEqual([{ kind: 'secret', name: 'aws', package: '@strongroom/cloud' }]);
  });

  test('whose installation is damaged stop the server: it is not taken for absent', async () => {
    const damaged = Object.assign(new Error("Cannot find package 'pg' imported from /srv/x.js"), { code: 'ERR_MODULE_NOT_FOUND' });
    const offers = [{ ...OFFERED[0]!, load: () => Promise.reject(damaged) }];
    await expect(offeredPlugins(offers)).rejects.toThrow(damaged);
  });
});

describe('packages of the configuration', () => {
  test('are found beside it, by name or by path', async () => {
    const plugins = await load('@acme/good', 'pack', './local.mjs');
    expect(plugins.map(({ name }) => name)).toEqual(['acme', 'a', 'b', 'local']);
  });

  test.each([
    ['missing', 'it is not installed, neither for'],
    ['./missing.js', 'there is no'],
    ['strange', 'is of the unknown kind "kettle"'],
    ['empty', 'it exports no plugin'],
    ['broken', 'it cannot be loaded: cannot start here'],
    ['incomplete', 'something that it needs is missing: '],
    ['outside', 'names no module to import'],
  ])('are refused with a reason: %s', async (name, reason) => {
    await expect(load('@acme/good', name)).rejects.toThrow(`server.hcl:${name.length}: plugin ${JSON.stringify(name)}: `);
    await expect(load('@acme/good', name)).rejects.toThrow(reason);
  });

  test('are refused together, with every reason', async () => {
    await expect(load('strange', '@acme/good', 'missing')).rejects.toThrow(/plugin "strange": .*\n.*plugin "missing": /);
  });

  test('that were built for another API are loaded, untouched, for the core to refuse them alone', async () => {
    expect((await load('old', '@acme/good')).map(({ name, apiVersion }) => [name, apiVersion])).toEqual([
      ['old', 0],
      ['acme', 2],
    ]);
  });

  test('cannot take the place of what is there', async () => {
    const present = [{ name: 'kv', kind: 'secret', apiVersion: 2 }];
    await expect(packagePlugins([named('second-kv')], present)).rejects.toThrow('kv is already there as secret plugin');
  });
});
