import { describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import { identityFixture, idOf, mounts, type IdentityFixture } from './identity-fixture.ts';

const jwt = 'auth_jwt_1';
const ldap = 'auth_ldap_1';

async function login(identity: IdentityFixture, name: string, mountAccessor = jwt, groupAliases?: readonly string[]): Promise<string> {
  return (await identity.store.resolveLogin({ mountAccessor, alias: { name }, ...(groupAliases ? { groupAliases } : {}) })).entityId;
}

describe('aliases of a method whose names are exact', () => {
  test('names that differ in case are two entities, whoever comes first', async () => {
    for (const [first, second] of [
      ['Alice', 'alice'],
      ['alice', 'Alice'],
    ] as const) {
      const identity = identityFixture();
      const one = await login(identity, first);
      const other = await login(identity, second);
      expect(other).not.toBe(one);
      expect(await login(identity, first)).toBe(one);
      expect(await login(identity, second)).toBe(other);
    }
  });

  test('a method that says any variant is one person has no say over exact names', async () => {
    const identity = identityFixture();
    const one = await login(identity, 'Alice');
    const { entityId } = await identity.store.resolveLogin({ mountAccessor: jwt, alias: { name: 'ALICE', anyVariant: true } });
    expect(entityId).not.toBe(one);
  });

  test('an operator writes, looks up and removes each by itself', async () => {
    const identity = identityFixture();
    const entities = [idOf(await identity.write('entity')), idOf(await identity.write('entity'))];
    const names = ['Alice', 'alice'];
    const ids: string[] = [];
    for (const [at, name] of names.entries())
      ids.push(idOf(await identity.write('entity-alias', { name, mount_accessor: jwt, canonical_id: entities[at]! })));
    expect(new Set(ids).size).toBe(2);
    for (const [at, name] of names.entries()) {
      expect((await identity.write('lookup/entity', { alias_name: name, alias_mount_accessor: jwt })).data).toMatchObject({
        id: entities[at],
      });
      expect(await login(identity, name)).toBe(entities[at]);
    }
    await identity.remove(`entity-alias/id/${ids[0]}`);
    expect(await login(identity, 'alice')).toBe(entities[1]);
    expect(await login(identity, 'Alice')).not.toBe(entities[0]);
  });

  test('an alias that moves to a method that ignores case takes its rule, and back', async () => {
    const identity = identityFixture();
    const entity = idOf(await identity.write('entity'));
    const id = idOf(await identity.write('entity-alias', { name: 'Alice', mount_accessor: jwt, canonical_id: entity }));
    await identity.write(`entity-alias/id/${id}`, { mount_accessor: ldap });
    expect(await login(identity, 'ALICE', ldap)).toBe(entity);
    await identity.write(`entity-alias/id/${id}`, { mount_accessor: jwt });
    expect(await login(identity, 'ALICE')).not.toBe(entity);
    expect(await login(identity, 'Alice')).toBe(entity);
    expect(await login(identity, 'alice', ldap)).not.toBe(entity);
  });

  test('groups too', async () => {
    const identity = identityFixture();
    const ids: string[] = [];
    for (const name of ['Admins', 'admins']) {
      const group = idOf(await identity.write('group', { name: `group of ${name} ${ids.length}`, type: 'external', policies: name }));
      await identity.write('group-alias', { name, mount_accessor: jwt, canonical_id: group });
      ids.push(group);
    }
    const entity = await login(identity, 'alice', jwt, ['admins', 'ADMINS']);
    expect((await identity.read(`entity/id/${entity}`)).data).toMatchObject({ direct_group_ids: [ids[1]] });
    await login(identity, 'alice', jwt, ['Admins']);
    expect((await identity.read(`entity/id/${entity}`)).data).toMatchObject({ direct_group_ids: [ids[0]] });
  });

  test('what was stored while the method ignored case is found by its very name, and harms no other', async () => {
    const view = new MemoryView();
    const before = identityFixture(view);
    mounts.set('auth_plugin_1', { path: 'auth/plugin/', type: 'plugin' });
    const alice = await login(before, 'Alice', 'auth_plugin_1');
    const group = idOf(await before.write('group', { type: 'external', policies: 'of-admins' }));
    await before.write('group-alias', { name: 'Admins', mount_accessor: 'auth_plugin_1', canonical_id: group });
    mounts.set('auth_plugin_1', { path: 'auth/plugin/', type: 'plugin', package: { exactAliases: true } });
    const identity = identityFixture(view);
    const other = await login(identity, 'alice', 'auth_plugin_1', ['admins']);
    expect(other).not.toBe(alice);
    expect(await login(identity, 'Alice', 'auth_plugin_1', ['Admins'])).toBe(alice);
    expect(await login(identity, 'alice', 'auth_plugin_1')).toBe(other);
    expect((await identity.store.policiesOf(alice))?.policies).toEqual(['of-admins']);
    expect((await identity.store.policiesOf(other))?.policies).toEqual([]);
    await identity.remove(`entity/id/${alice}`);
    expect(await login(identity, 'alice', 'auth_plugin_1')).toBe(other);
    mounts.delete('auth_plugin_1');
  });
});

describe('names that no alias may have', () => {
  const looksLikeAnother = ['alice ', ' alice', '\u00a0alice', 'alice\n', 'al\u0000ice', 'al\u001bice', 'alice\ud800', '\u3000alice'];

  test.each(looksLikeAnother)('%j is refused to logins and operators', async (name) => {
    const identity = identityFixture();
    await expect(login(identity, name)).rejects.toMatchObject({ status: 400, message: expect.stringContaining('name of an alias') });
    await expect(login(identity, name, ldap)).rejects.toMatchObject({ status: 400 });
    expect(await identity.write('entity-alias', { name, mount_accessor: ldap })).toMatchObject({ status: 400 });
    const id = idOf(await identity.write('entity-alias', { name: 'bob', mount_accessor: ldap }));
    expect(await identity.write(`entity-alias/id/${id}`, { name })).toMatchObject({ status: 400 });
    expect((await identity.read(`entity-alias/id/${id}`)).data).toMatchObject({ name: 'bob' });
  });

  test('a login without a name is refused', async () => {
    const identity = identityFixture();
    await expect(login(identity, '')).rejects.toMatchObject({ status: 400, message: 'missing name in alias' });
  });

  test('spaces and letters of all scripts inside are fine', async () => {
    const identity = identityFixture();
    for (const name of ['Ann Lee', 'émile', 'سلام\u200cدنیا', 'system:serviceaccount:a:b']) await login(identity, name);
    expect((await identity.list('entity-alias/id')).data).toMatchObject({ keys: { length: 4 } });
  });
});
