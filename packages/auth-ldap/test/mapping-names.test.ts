import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import { Mappings } from '../src/mappings.ts';
import { mounted, type MountedLdap } from './mounted.ts';

describe.each(['users', 'groups'] as const)('names of %s', (kind) => {
  let mount: MountedLdap;

  beforeEach(async () => {
    mount = await mounted();
  });
  afterEach(() => mount.close());

  const at = (name: string): string => `auth/ldap/${kind}/${name}`;
  const policies = async (name: string): Promise<unknown> =>
    ((await mount.call('read', at(name))).data as { policies?: unknown } | null)?.policies;
  const names = async (): Promise<unknown> => ((await mount.call('list', `auth/ldap/${kind}`)).data as { keys?: unknown } | null)?.keys;

  test('stored while names differed by case, they are reached in any case afterwards: read, listed and deleted', async () => {
    await mount.write('config', { case_sensitive_names: true });
    await mount.write(`${kind}/Eng`, { policies: 'mine' });
    expect(await policies('eng')).toBeUndefined();
    await mount.write('config', { case_sensitive_names: false });
    expect(await names()).toEqual(['eng']);
    for (const name of ['Eng', 'eng', 'ENG']) expect(await policies(name)).toEqual(['mine']);
    expect(await mount.delete(`${kind}/Eng`)).toMatchObject({ status: 204 });
    expect(await names()).toBeUndefined();
  });

  test('two that would be one name refuse the change of the rule, which names them', async () => {
    await mount.write('config', { case_sensitive_names: true });
    for (const name of ['Eng', 'eng']) await mount.write(`${kind}/${name}`, { policies: `of-${name}` });
    expect(await mount.call('update', 'auth/ldap/config', { data: { case_sensitive_names: false } })).toMatchObject({
      status: 400,
      errors: [`case_sensitive_names: ${kind}/Eng and ${kind}/eng would be one name; delete one of them first`],
    });
    expect([await policies('Eng'), await policies('eng')]).toEqual([['of-eng'], ['of-eng']]);
    await mount.delete(`${kind}/eng`);
    expect(await mount.write('config', { case_sensitive_names: false })).toMatchObject({ status: 204 });
    expect(await policies('eng')).toEqual(['of-eng']);
  });

  test('stored while names did not differ by case, they keep their names afterwards', async () => {
    await mount.write(`${kind}/Eng`, { policies: 'mine' });
    await mount.write('config', { case_sensitive_names: true });
    expect(await names()).toEqual(['eng']);
    expect(await policies('eng')).toEqual(['mine']);
    expect(await policies('Eng')).toBeUndefined();
    await mount.write(`${kind}/Eng`, { policies: 'other' });
    expect([await policies('eng'), await policies('Eng')]).toEqual([['mine'], ['other']]);
  });

  test('are one path to policies in all their variants, by the rule as it is now', async () => {
    const policy = `path "auth/ldap/${kind}/*" { capabilities = ["read", "update"] }\npath "auth/ldap/${kind}/admin" { capabilities = ["deny"] }`;
    await mount.call('update', 'sys/policies/acl/delegate', { data: { policy } });
    const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['delegate'] } })).auth!.client_token;
    const write = async (name: string) => (await mount.call('update', at(name), { token, data: { policies: 'x' } })).status;
    expect([await write('admin'), await write('ADMIN'), await write('Admin'), await write('other')]).toEqual([403, 403, 403, 204]);
    await mount.write('config', { case_sensitive_names: true });
    expect([await write('admin'), await write('ADMIN')]).toEqual([403, 204]);
    if (kind === 'users') expect(await write('ａｄｍｉｎ')).toBe(403);
  });

  test('may hold slashes, with spaces around them, and are one path to policies all the same', async () => {
    for (const denied of ['a / b', 'a/b']) {
      const policy = `path "auth/ldap/${kind}/*" { capabilities = ["read", "update"] }\npath "auth/ldap/${kind}/${denied}" { capabilities = ["deny"] }`;
      await mount.call('update', 'sys/policies/acl/delegate', { data: { policy } });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['delegate'] } })).auth!.client_token;
      expect([denied, (await mount.call('update', at(denied), { token, data: { policies: 'x' } })).status]).toEqual([denied, 403]);
    }
    // A full-width slash folds into another number of segments.
    if (kind === 'users') expect(await mount.call('update', at('a／b'), { data: { policies: 'x' } })).toMatchObject({ status: 400 });
  });
});

test('a mapping for a name with its domain is warned of: logins have the name alone', async () => {
  const mount = await mounted();
  await mount.write('config', { upndomain: 'corp.example' });
  for (const name of ['ann@corp.example', 'CORP\\ann'])
    expect((await mount.write(`users/${name}`, { policies: 'p' })).warnings).toEqual([expect.stringContaining('write users/ann')]);
  expect(await mount.write('users/ann@elsewhere.example', { policies: 'p' })).toMatchObject({ status: 204 });
  await mount.close();
});

describe('names of an earlier version', () => {
  const fixture = async (users: Record<string, string>, caseSensitive = false) => {
    const view = new MemoryView();
    const rule = { caseSensitive };
    const told: unknown[] = [];
    const mappings = new Mappings(
      view,
      () => rule.caseSensitive,
      (_message, fields) => told.push(fields),
    );
    for (const [name, policy] of Object.entries(users)) await mappings.users.records.put(name, { policies: [policy], groups: [] });
    await mappings.initialize();
    return { view, rule, told, mappings, policies: async (name: string) => (await mappings.of(name, [], rule.caseSensitive)).policies };
  };

  test('that logins used get their folded name, once', async () => {
    const { mappings, policies } = await fixture({ 'dev  ops': 'a', ｗｉｄｅ: 'b' });
    expect(await mappings.users.records.list()).toEqual(['dev ops', 'wide']);
    expect([await policies('dev ops'), await policies('wide')]).toEqual([['a'], ['b']]);
    await mappings.users.records.put('two  spaces', { policies: ['c'], groups: [] });
    await mappings.initialize();
    expect(await policies('two spaces')).toEqual([]);
  });

  test('that no login used stay unused: the very variant reads and deletes them, and writes nothing else', async () => {
    const {
      mappings: { users },
      policies,
      told,
    } = await fixture({ eng: 'a', Eng: 'b', Ops: 'c' });
    expect(told).toEqual([{ names: ['Eng', 'Ops'] }]);
    expect(['eng', 'ENG', 'Eng', 'Ops', 'ops'].map((name) => users.fold(name))).toEqual(['eng', 'eng', 'Eng', 'Ops', 'ops']);
    expect([await policies('eng'), await policies('Eng'), await policies('ops')]).toEqual([['a'], [], []]);
    expect(users.warningsOf('Eng').warnings).toEqual([expect.stringContaining('no login uses this record')]);
    expect(users.warningsOf('eng')).toEqual({});
    expect(() => users.requireWritable('Eng')).toThrow('users/Eng was stored while names were compared otherwise');
    await users.delete('Eng');
    expect(users.fold('Eng')).toBe('eng');
    expect(await users.records.list()).toEqual(['Ops', 'eng']);
  });

  test('another process hears of a leftover that was deleted', async () => {
    const {
      mappings: { users },
    } = await fixture({ Eng: 'b' });
    await users.records.delete('Eng');
    expect(users.fold('Eng')).toBe('Eng');
    await users.invalidated('user/Eng');
    expect(users.fold('Eng')).toBe('eng');
  });
});
