import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { API_VERSION, f, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { Type } from 'typebox';
import { defaultRoleTokens, mergeRoleTokens, recordPaths, RoleTokens, roleTokenData, roleTokenFields } from '../src/index.ts';

const Role = Type.Object({ ...RoleTokens.properties, colour: Type.String() });

const engine: EnginePackage = {
  name: 'colours',
  kind: 'auth',
  apiVersion: API_VERSION,
  version: '0.0.0',
  create: ({ storage }) => ({
    paths: recordPaths({
      at: 'role',
      capture: 'name',
      noun: 'role',
      synopsis: 'Roles.',
      description: 'Roles with a colour.',
      fields: { ...roleTokenFields(['ttl']), colour: f.string('A colour.') },
      storage,
      records: (view) => view.collection('role/', Role),
      read: ({ colour, ...tokens }) => ({ colour, ...roleTokenData(tokens) }),
      write: (stored = { ...defaultRoleTokens, colour: 'red' }, { data, supplied }) => ({
        record: { ...mergeRoleTokens(stored, data, supplied), colour: supplied.has('colour') ? (data.colour ?? '') : stored.colour },
        warnings: data.colour === 'grey' ? ['grey is dull'] : [],
      }),
    }),
  }),
};

describe('records by name', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountForTest(engine);
  });
  afterEach(async () => mount.close());

  test('a record is written, read, listed and deleted under one name, whatever its case', async () => {
    expect((await mount.write('role/Web', { colour: 'blue', ttl: '1m' })).status).toBe(204);
    expect((await mount.read('role/WEB')).data).toMatchObject({ colour: 'blue', ttl: 60, token_ttl: 60 });
    expect((await mount.list('role')).data).toEqual({ keys: ['web'] });
    expect((await mount.delete('role/wEb')).status).toBe(204);
    expect((await mount.call('read', 'auth/colours/role/web')).status).toBe(404);
    expect((await mount.call('list', 'auth/colours/role')).status).toBe(404);
  });

  test('a later write changes what it contains, and answers its warnings', async () => {
    await mount.write('role/web', { token_ttl: '1m' });
    const answer = await mount.write('role/web', { colour: 'grey' });
    expect({ status: answer.status, warnings: answer.warnings }).toEqual({ status: 200, warnings: ['grey is dull'] });
    expect((await mount.read('role/web')).data).toMatchObject({ colour: 'grey', token_ttl: 60 });
  });

  test.each(['a b', '-a', 'a@b', 'ä'])('%s is no name', async (name) => {
    expect((await mount.call('update', `auth/colours/role/${name}`, { data: {} })).status).toBe(404);
  });

  test('to delete what does not exist changes nothing', async () => {
    expect((await mount.delete('role/none')).status).toBe(204);
  });

  test('names are listed page by page', async () => {
    for (const name of ['a', 'b', 'c']) await mount.write(`role/${name}`);
    expect((await mount.list('role', { after: 'a', limit: 1 })).data).toEqual({ keys: ['b'] });
  });
});
