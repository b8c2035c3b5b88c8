import { describe, expect, test } from '@jest/globals';
import { identityFixture, idOf } from './identity-fixture.ts';

const uuid = expect.stringMatching(/^[0-9a-f]{8}-/);

describe('entities', () => {
  test('creating one answers with its id and name, updating it with 204', async () => {
    const identity = identityFixture();
    const created = await identity.write('entity', { name: 'Bob', policies: 'B, a,b', metadata: { team: 'x' } });
    expect(created).toEqual({ status: 200, data: { aliases: null, id: uuid, name: 'Bob' } });
    identity.clock.advance(60);
    expect(await identity.write('entity', { name: 'bob', disabled: true })).toEqual({ status: 204, data: null });
    expect((await identity.read(`entity/id/${idOf(created)}`)).data).toEqual({
      aliases: [],
      creation_time: '2030-01-01T00:00:00.000Z',
      direct_group_ids: [],
      disabled: true,
      group_ids: [],
      id: idOf(created),
      inherited_group_ids: [],
      last_update_time: '2030-01-01T00:01:00.000Z',
      merged_entity_ids: null,
      metadata: { team: 'x' },
      mfa_secrets: {},
      name: 'bob',
      namespace_id: 'root',
      policies: ['b', 'a'],
    });
  });

  test('one without a name gets one', async () => {
    const created = await identityFixture().write('entity');
    expect(created.data).toEqual({ aliases: null, id: uuid, name: expect.stringMatching(/^entity_[0-9a-f]{8}$/) });
  });

  test('reads by id and by name, whatever the case; what is not there is a 404', async () => {
    const identity = identityFixture();
    const id = idOf(await identity.write('entity/name/Team Blue/x'));
    expect((await identity.read('entity/name/team blue/X')).data).toMatchObject({ id, name: 'Team Blue/x', metadata: null });
    expect(await identity.read('entity/name/other')).toEqual({ status: 404, data: null });
    expect(await identity.read('entity/id/00000000-0000-0000-0000-000000000000')).toEqual({ status: 404, data: null });
  });

  test('renaming frees the former name and refuses a name in use', async () => {
    const identity = identityFixture();
    const id = idOf(await identity.write('entity/name/a'));
    await identity.write('entity/name/b');
    expect((await identity.write(`entity/id/${id}`, { name: 'B' })).errors).toEqual(['entity name is already in use']);
    expect(await identity.write(`entity/id/${id}`, { name: 'c' })).toMatchObject({ status: 204 });
    expect((await identity.list('entity/name')).data).toEqual({ keys: ['b', 'c'] });
    expect(await identity.write('entity/name/a')).toMatchObject({ status: 200 });
  });

  test.each([
    ['entity', { policies: ['x', 'Root'] }, 'policies cannot contain root'],
    ['entity', { id: 'nobody' }, 'entity not found from id'],
    ['entity', { name: 'x'.repeat(513) }, 'field "name" is longer than 512 bytes'],
    ['entity', { name: 'a\0b' }, 'field "name" holds characters that no name can have'],
    ['entity/batch-delete', {}, 'missing entity ids to delete'],
    ['entity/merge', { to_entity_id: 'x' }, 'missing entity ids to merge from'],
    ['entity/merge', { from_entity_ids: 'x' }, 'missing entity id to merge to'],
    ['entity/merge', { from_entity_ids: 'x', to_entity_id: 'x' }, 'to_entity_id should not be present in from_entity_ids'],
    ['entity/merge', { from_entity_ids: 'x', to_entity_id: 'y' }, 'entity id to merge to is invalid'],
  ])('a bad write to %s (%j) is a 400 that says why', async (path, body, text) => {
    expect(await identityFixture().write(path, body)).toEqual({ status: 400, data: null, errors: [text] });
  });

  test('deleting is a 204 whether or not it is there, and takes aliases and memberships along', async () => {
    const identity = identityFixture();
    const id = idOf(await identity.write('entity', { name: 'a' }));
    await identity.write('entity-alias', { name: 'a', mount_accessor: 'auth_ldap_1', canonical_id: id });
    const group = idOf(await identity.write('group', { member_entity_ids: [id] }));
    for (let time = 0; time < 2; time += 1) expect(await identity.remove(`entity/id/${id}`)).toEqual({ status: 204, data: null });
    expect(await identity.remove('entity/name/a')).toEqual({ status: 204, data: null });
    expect(await identity.list('entity/id')).toMatchObject({ status: 404 });
    expect(await identity.list('entity-alias/id')).toMatchObject({ status: 404 });
    expect((await identity.read(`group/id/${group}`)).data).toMatchObject({ member_entity_ids: null });
    expect([...identity.view.store.records.keys()].filter((key) => !key.startsWith('group'))).toEqual([]);
  });

  test('several are deleted at once', async () => {
    const identity = identityFixture();
    const ids: string[] = [];
    for (let count = 0; count < 70; count += 1) ids.push(idOf(await identity.write('entity')));
    expect(await identity.write('entity/batch-delete', { entity_ids: [...ids.slice(1), 'unknown'] })).toMatchObject({ status: 204 });
    expect((await identity.list('entity/id')).data).toMatchObject({ keys: [ids[0]] });
  });

  test('the list by id tells names and aliases', async () => {
    const identity = identityFixture();
    const id = idOf(await identity.write('entity', { name: 'a' }));
    expect((await identity.list('entity/id')).data).toEqual({ keys: [id], key_info: { [id]: { name: 'a' } } });
    const alias = idOf(await identity.write('entity-alias', { name: 'al', mount_accessor: 'auth_ldap_1', canonical_id: id }));
    const aliases = [{ id: alias, name: 'al', mount_accessor: 'auth_ldap_1', mount_path: 'auth/ldap/', mount_type: 'ldap' }];
    expect((await identity.list('entity/id')).data).toEqual({ keys: [id], key_info: { [id]: { name: 'a', aliases } } });
  });

  test('20 writes of one new name at once make one entity', async () => {
    const identity = identityFixture();
    const answers = await Promise.all(Array.from({ length: 20 }, () => identity.write('entity/name/a', { policies: 'p' })));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect((await identity.list('entity/id')).data).toMatchObject({ keys: [uuid] });
  });
});

describe('merging', () => {
  async function two(): Promise<{ identity: ReturnType<typeof identityFixture>; from: string; to: string }> {
    const identity = identityFixture();
    const from = idOf(await identity.write('entity', { name: 'from', policies: 'of-from' }));
    const to = idOf(await identity.write('entity', { name: 'to', policies: 'of-to' }));
    await identity.write('entity-alias', { name: 'f', mount_accessor: 'auth_ldap_1', canonical_id: from });
    return { identity, from, to };
  }

  test('moves aliases and memberships, not policies, and the old id still leads to the policies', async () => {
    const { identity, from, to } = await two();
    await identity.write('group', { name: 'g', policies: 'of-group', member_entity_ids: from });
    expect(await identity.store.policiesOf(from)).toEqual({ disabled: false, policies: ['of-from', 'of-group'] });
    expect(await identity.write('entity/merge', { from_entity_ids: [from], to_entity_id: to })).toEqual({ status: 204, data: null });
    expect(await identity.read(`entity/id/${from}`)).toMatchObject({ status: 404 });
    expect((await identity.read(`entity/id/${to}`)).data).toMatchObject({
      merged_entity_ids: [from],
      aliases: [{ name: 'f', canonical_id: to, merged_from_canonical_ids: [from] }],
      policies: ['of-to'],
    });
    expect((await identity.read('group/name/g')).data).toMatchObject({ member_entity_ids: [to] });
    for (const id of [from, to]) expect(await identity.store.policiesOf(id)).toEqual({ disabled: false, policies: ['of-group', 'of-to'] });
    expect(await identity.store.resolveLogin({ mountAccessor: 'auth_ldap_1', alias: { name: 'F' } })).toEqual({
      entityId: to,
      created: false,
    });
  });

  test('merging does not enable an entity that is disabled', async () => {
    const identity = identityFixture();
    const from = idOf(await identity.write('entity', { name: 'from', disabled: true }));
    const to = idOf(await identity.write('entity', { name: 'to' }));
    const order = { from_entity_ids: [from], to_entity_id: to };
    const text = `entity "${from}" is disabled and the one to merge to is not: enable it first, or delete it`;
    expect(await identity.write('entity/merge', order)).toEqual({ status: 400, data: null, errors: [text] });
    await identity.write(`entity/id/${to}`, { disabled: true });
    expect((await identity.write('entity/merge', order)).status).toBe(204);
    expect((await identity.read(`entity/id/${to}`)).data).toMatchObject({ disabled: true });
  });

  test('an id that was merged twice leads to the last entity, and to nothing once that is deleted', async () => {
    const { identity, from, to } = await two();
    const last = idOf(await identity.write('entity', { policies: 'of-last' }));
    await identity.write('entity/merge', { from_entity_ids: [from], to_entity_id: to });
    await identity.store.policiesOf(from);
    await identity.write('entity/merge', { from_entity_ids: [to], to_entity_id: last });
    expect((await identity.store.policiesOf(from))?.policies).toEqual(['of-last']);
    await identity.write(`entity/id/${last}`, { policies: 'changed' });
    expect((await identity.store.policiesOf(from))?.policies).toEqual(['changed']);
    await identity.remove(`entity/id/${last}`);
    expect(await identity.store.policiesOf(from)).toBeUndefined();
    expect([...identity.view.store.records.keys()]).toEqual([]);
  });

  test('two aliases on one mount need a choice, and nothing happens without it', async () => {
    const { identity, from, to } = await two();
    const kept = idOf(await identity.write('entity-alias', { name: 't', mount_accessor: 'auth_ldap_1', canonical_id: to }));
    const order = { from_entity_ids: [from], to_entity_id: to };
    const refused = await identity.write('entity/merge', order);
    expect(refused.status).toBe(400);
    expect(refused.errors?.[0]).toContain('have aliases with the same mount accessor');
    expect(await identity.read(`entity/id/${from}`)).toMatchObject({ status: 200 });
    await identity.write('entity/merge', { ...order, conflicting_alias_ids_to_keep: [kept] });
    expect((await identity.read(`entity/id/${to}`)).data).toMatchObject({ aliases: [{ id: kept, name: 't' }] });
    expect((await identity.list('entity-alias/id')).data).toMatchObject({ keys: [kept] });
  });
});

describe('entity aliases', () => {
  test('one without an entity makes one; the same again changes nothing', async () => {
    const identity = identityFixture();
    const body = { name: 'bob', mount_accessor: 'auth_ldap_1', custom_metadata: { k: 'v' } };
    const created = await identity.write('entity-alias', body);
    expect(created).toEqual({ status: 200, data: { id: uuid, canonical_id: uuid } });
    expect(await identity.write('entity-alias', body)).toEqual({ status: 204, data: null });
    const { canonical_id } = created.data as { canonical_id: string };
    const alias = {
      id: idOf(created),
      canonical_id,
      mount_accessor: 'auth_ldap_1',
      mount_path: 'auth/ldap/',
      mount_type: 'ldap',
      name: 'bob',
      metadata: null,
      custom_metadata: { k: 'v' },
      merged_from_canonical_ids: null,
      local: false,
      creation_time: '2030-01-01T00:00:00.000Z',
      last_update_time: '2030-01-01T00:00:00.000Z',
    };
    expect((await identity.read(`entity-alias/id/${idOf(created)}`)).data).toEqual({ ...alias, namespace_id: 'root' });
    expect((await identity.read(`entity/id/${canonical_id}`)).data).toMatchObject({ aliases: [alias] });
    const info = { canonical_id, custom_metadata: { k: 'v' }, local: false, metadata: null, name: 'bob' };
    const mount = { mount_accessor: 'auth_ldap_1', mount_path: 'auth/ldap/', mount_type: 'ldap' };
    expect((await identity.list('entity-alias/id')).data).toEqual({ keys: [alias.id], key_info: { [alias.id]: { ...info, ...mount } } });
  });

  test('moves to another entity, and its login with it', async () => {
    const identity = identityFixture();
    const alias = idOf(await identity.write('entity-alias', { name: 'bob', mount_accessor: 'auth_ldap_1' }));
    const other = idOf(await identity.write('entity'));
    const moved = await identity.write(`entity-alias/id/${alias}`, { canonical_id: other, name: 'robert' });
    expect(moved).toEqual({ status: 200, data: { id: alias, canonical_id: other } });
    const login = async (name: string): Promise<string> =>
      (await identity.store.resolveLogin({ mountAccessor: 'auth_ldap_1', alias: { name } })).entityId;
    expect(await login('robert')).toBe(other);
    expect(await login('bob')).not.toBe(other);
  });

  test('deleting one leaves its entity', async () => {
    const identity = identityFixture();
    const created = await identity.write('entity-alias', { name: 'bob', mount_accessor: 'auth_ldap_1' });
    for (let time = 0; time < 2; time += 1)
      expect(await identity.remove(`entity-alias/id/${idOf(created)}`)).toMatchObject({ status: 204 });
    const { canonical_id } = created.data as { canonical_id: string };
    expect((await identity.read(`entity/id/${canonical_id}`)).data).toMatchObject({ aliases: [] });
    expect(await identity.write('entity-alias', { name: 'bob', mount_accessor: 'auth_ldap_1' })).toMatchObject({ status: 200 });
  });

  test('bad writes are 400s that say why', async () => {
    const identity = identityFixture();
    const first = await identity.write('entity-alias', { name: 'a', mount_accessor: 'auth_ldap_1' });
    const second = await identity.write('entity-alias', { name: 'b', mount_accessor: 'auth_ldap_1' });
    const { canonical_id } = first.data as { canonical_id: string };
    const refusals: [string, Record<string, unknown>, string][] = [
      ['entity-alias', { name: 'x' }, "'id' or 'mount_accessor' and 'name' must be provided"],
      ['entity-alias', { name: 'x', mount_accessor: 'zz' }, 'invalid mount accessor "zz"'],
      ['entity-alias', { name: 'x', mount_accessor: 'auth_ldap_2', canonical_id: 'zz' }, 'invalid canonical ID'],
      ['entity-alias', { id: 'zz', name: 'x' }, 'invalid alias ID provided'],
      [
        'entity-alias',
        { name: 'x', mount_accessor: 'auth_ldap_1', canonical_id },
        'Alias already exists for requested entity and mount accessor',
      ],
      [`entity-alias/id/${idOf(second)}`, { name: 'A' }, 'alias with combination of mount accessor and name already exists'],
      [
        `entity-alias/id/${idOf(second)}`,
        { canonical_id },
        'Alias cannot be updated as the given entity already has an alias for this mount',
      ],
      [
        `entity-alias/id/${idOf(second)}`,
        { custom_metadata: { ['k'.repeat(129)]: 'v' } },
        expect.stringMatching(/^custom_metadata validation failed: /) as never,
      ],
    ];
    for (const [path, body, text] of refusals)
      expect(await identity.write(path, body)).toEqual({ status: 400, data: null, errors: [text] });
  });
});

describe('lookup', () => {
  test('finds an entity by each of its keys, answers 204 when there is none, 400 to a bad question', async () => {
    const identity = identityFixture();
    const created = await identity.write('entity-alias', { name: 'al', mount_accessor: 'auth_ldap_1' });
    const { id: alias_id, canonical_id: id } = created.data as { id: string; canonical_id: string };
    const { name } = (await identity.read(`entity/id/${id}`)).data as { name: string };
    for (const query of [{ id }, { name }, { alias_id }, { alias_name: 'AL', alias_mount_accessor: 'auth_ldap_1' }]) {
      expect((await identity.write('lookup/entity', query)).data).toMatchObject({ id, name });
    }
    for (const query of [{ id: 'x' }, { name: 'x' }, { alias_id: 'x' }, { alias_name: 'al', alias_mount_accessor: 'auth_ldap_2' }]) {
      expect(await identity.write('lookup/entity', query)).toEqual({ status: 204, data: null });
    }
    expect((await identity.write('lookup/entity')).errors).toEqual(['query parameter not supplied']);
    const conflict = ['query parameter conflict; please supply distinct set of query parameters'];
    expect((await identity.write('lookup/entity', { id, name })).errors).toEqual(conflict);
    expect((await identity.write('lookup/entity', { alias_name: 'al' })).status).toBe(400);
  });

  test('finds a group by each of its keys', async () => {
    const identity = identityFixture();
    const id = idOf(await identity.write('group', { name: 'g', type: 'external' }));
    const alias_id = idOf(await identity.write('group-alias', { name: 'eng', mount_accessor: 'auth_ldap_1', canonical_id: id }));
    for (const query of [{ id }, { name: 'G' }, { alias_id }, { alias_name: 'Eng', alias_mount_accessor: 'auth_ldap_1' }]) {
      expect((await identity.write('lookup/group', query)).data).toMatchObject({ id, name: 'g' });
    }
    expect(await identity.write('lookup/group', { name: 'x' })).toEqual({ status: 204, data: null });
  });
});
