import { afterEach, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { AbsentPlugin, Core } from '../../../src/index.ts';
import { Outside, testEngine } from '../../test-engine.ts';

const token = 'root-of-this-test';
const absent: AbsentPlugin[] = [
  { kind: 'secret', name: 'aws', package: '@strongroom/cloud' },
  { kind: 'secret', name: 'test', package: '@strongroom/never-asked-for' },
  { kind: 'secret', name: 'sync', package: '@strongroom/sync', system: { path: 'sys/sync/' } },
];

let core: Core;
afterEach(async () => core.close());

async function ask(operation: 'read' | 'update' | 'list' | 'delete', path: string, data?: Record<string, unknown>) {
  const { status, errors, data: answer } = await core.handle({ operation, path, token, ...(data ? { data } : {}) });
  return { status, errors, data: answer as Record<string, unknown> };
}

describe('a plugin that is not installed', () => {
  const open = async () => checkedCore({ storage: memoryStorage(), devRootToken: token, absentPlugins: absent });
  const cloud = 'plugin aws is not installed on this server: npm install @strongroom/cloud';

  test('is named with the package to install when it is to be mounted', async () => {
    core = await open();
    expect(await ask('update', 'sys/mounts/aws', { type: 'aws' })).toMatchObject({ status: 400, errors: [cloud] });
    expect((await ask('update', 'sys/auth/aws', { type: 'aws' })).errors).toEqual(['plugin not found in the catalog: aws']);
  });

  test('is named at every path of its place, where the server would mount it', async () => {
    core = await open();
    const sync = ['plugin sync is not installed on this server: npm install @strongroom/sync'];
    expect((await ask('update', 'sys/sync/destinations/aws-sm/mine', { region: 'x' })).errors).toEqual(sync);
    expect((await ask('read', 'sys/sync/config')).errors).toEqual(sync);
    expect((await ask('list', 'sys/sync/destinations')).errors).toEqual(sync);
  });

  test('is not in the catalogue', async () => {
    core = await open();
    expect((await ask('read', 'sys/plugins/catalog')).data['secret']).toEqual([]);
  });

  test('is not missed where somebody else has brought one of its name', async () => {
    const own = { ...testEngine(new Outside()), version: '3.1.4' };
    core = await checkedCore({ storage: memoryStorage(), devRootToken: token, absentPlugins: absent, externalPlugins: [own] });
    expect((await ask('update', 'sys/mounts/test', { type: 'test' })).status).toBe(204);
  });
});

test('a plugin that an operator added is not shown as built in', async () => {
  const pkg = { ...testEngine(new Outside()), version: '3.1.4' };
  core = await checkedCore({ storage: memoryStorage(), devRootToken: token, plugins: [{ ...pkg, name: 'ours' }], externalPlugins: [pkg] });
  for (const type of ['ours', 'test']) await ask('update', `sys/mounts/${type}`, { type });
  const shown = async (name: string) => ({
    catalogue: (await ask('read', `sys/plugins/catalog/secret/${name}`)).data,
    mount: (await ask('read', `sys/mounts/${name}`)).data,
  });
  expect(await shown('ours')).toMatchObject({
    catalogue: { builtin: true, version: 'v3.1.4+builtin.strongroom' },
    mount: { running_plugin_version: 'v3.1.4+builtin.strongroom' },
  });
  expect(await shown('test')).toMatchObject({
    catalogue: { builtin: false, version: 'v3.1.4' },
    mount: { running_plugin_version: 'v3.1.4' },
  });
});
