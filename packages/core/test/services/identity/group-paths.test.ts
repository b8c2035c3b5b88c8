import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { identityFixture, idOf } from './identity-fixture.ts';

describe('groups', () => {
  test('creating one answers with id and name, updating it with 204; empty lists read as null', async () => {
    const identity = identityFixture();
    const created = await identity.write('group', { name: 'Eng', policies: ['P', 'q', 'p'] });
    const id = idOf(created);
    expect(created).toEqual({ status: 200, data: { id, name: 'Eng' } });
    expect(await identity.write(`group/id/${id}`, { metadata: { a: 'b' } })).toEqual({ status: 204, data: null });
    expect((await identity.read('group/name/eng')).data).toEqual({
      alias: {},
      creation_time: '2030-01-01T00:00:00.000Z',
      id,
      last_update_time: '2030-01-01T00:00:00.000Z',
      member_entity_ids: null,
      member_group_ids: null,
      metadata: { a: 'b' },
      modify_index: 2,
      name: 'Eng',
      namespace_id: 'root',
      parent_group_ids: null,
      policies: ['p', 'q'],
      type: 'internal',
    });
  });

  test('a write by name creates, then changes', async () => {
    const identity = identityFixture();
    expect(await identity.write('group/name/a b', { policies: 'p' })).toMatchObject({ status: 200, data: { name: 'a b' } });
    expect(await identity.write('group/name/a b', { policies: 'q' })).toMatchObject({ status: 204 });
    expect((await identity.read('group/name/A B')).data).toMatchObject({ policies: ['q'] });
    expect((await identity.write('group', { name: 'a b' })).errors).toEqual(['group name is already in use']);
  });

  test('lists tell members, parents and aliases', async () => {
    const identity = identityFixture();
    expect(await identity.list('group/id')).toEqual({ status: 404, data: null });
    const entity = idOf(await identity.write('entity'));
    const child = idOf(await identity.write('group', { name: 'child', member_entity_ids: [entity] }));
    const parent = idOf(await identity.write('group', { name: 'Parent', member_group_ids: [child] }));
    const outside = idOf(await identity.write('group', { name: 'outside', type: 'external' }));
    const alias = idOf(await identity.write('group-alias', { name: 'eng', mount_accessor: 'auth_ldap_1', canonical_id: outside }));
    const mount = { mount_accessor: 'auth_ldap_1', mount_path: 'auth/ldap/', mount_type: 'ldap' };
    const key_info = {
      [child]: { name: 'child', num_member_entities: 1, num_parent_groups: 1 },
      [parent]: { name: 'Parent', num_member_entities: 0, num_parent_groups: 0 },
      [outside]: { name: 'outside', num_member_entities: 0, num_parent_groups: 0, alias: { id: alias, name: 'eng', ...mount } },
    };
    expect((await identity.list('group/id')).data).toEqual({ keys: [child, parent, outside].sort(), key_info });
    expect((await identity.list('group/name')).data).toEqual({ keys: ['child', 'outside', 'Parent'], key_info });
    const info = { canonical_id: outside, name: 'eng', ...mount };
    expect((await identity.list('group-alias/id')).data).toEqual({ keys: [alias], key_info: { [alias]: info } });
    expect((await identity.read(`group/id/${child}`)).data).toMatchObject({ parent_group_ids: [parent], member_entity_ids: [entity] });
    expect((await identity.read(`entity/id/${entity}`)).data).toMatchObject({
      direct_group_ids: [child],
      inherited_group_ids: [parent],
      group_ids: [child, parent],
    });
  });

  test('bad writes are 400s that say why, and leave nothing behind', async () => {
    const identity = identityFixture();
    const id = idOf(await identity.write('group', { name: 'g' }));
    const entity = idOf(await identity.write('entity'));
    const external = idOf(await identity.write('group', { name: 'e', type: 'external' }));
    const before = identity.view.store.records.size;
    const refusals: [string, Record<string, unknown>, string][] = [
      ['group', { policies: 'root' }, 'policies cannot contain root'],
      ['group', { type: 'zz' }, 'invalid group type "zz"'],
      ['group', { id: 'zz' }, 'invalid group ID'],
      ['group', { name: 'G' }, 'group name is already in use'],
      [`group/id/${id}`, { type: 'external' }, 'group type cannot be changed'],
      [`group/id/${id}`, { name: 'E' }, 'group name is already in use'],
      [`group/id/${id}`, { member_entity_ids: [entity, 'zz'] }, 'invalid entity ID "zz"'],
      [`group/id/${id}`, { member_group_ids: ['zz'] }, 'invalid group ID "zz"'],
      [`group/id/${id}`, { member_group_ids: [id] }, `member group ID "${id}" is same as the ID of the group`],
      ['group', { type: 'external', member_entity_ids: [entity] }, "member entities can't be set manually for external groups"],
      ['group', { type: 'external', member_group_ids: [id] }, "member groups can't be set for external groups"],
      ['group-alias', { mount_accessor: 'auth_ldap_1' }, 'missing alias name'],
      ['group-alias', { name: 'x' }, 'missing mount_accessor'],
      ['group-alias', { name: 'x', mount_accessor: 'zz' }, 'invalid mount accessor "zz"'],
      ['group-alias', { name: 'x', mount_accessor: 'auth_ldap_1', canonical_id: id }, "alias can't be set on an internal group"],
      ['group-alias', { name: 'x', mount_accessor: 'auth_ldap_1', canonical_id: 'zz' }, "invalid group ID given in 'canonical_id'"],
      ['group-alias', { id: 'zz', name: 'x', mount_accessor: 'auth_ldap_1' }, 'invalid group alias ID'],
    ];
    for (const [path, body, text] of refusals)
      expect(await identity.write(path, body)).toEqual({ status: 400, data: null, errors: [text] });
    expect(identity.view.store.records.size).toBe(before);
    await identity.write('group-alias', { name: 'x', mount_accessor: 'auth_ldap_1', canonical_id: external });
    expect((await identity.write('group-alias', { name: 'X', mount_accessor: 'auth_ldap_1' })).errors).toEqual([
      'combination of mount and group alias name is already in use',
    ]);
  });

  test('deleting one takes its policies from members at once and leaves no trace', async () => {
    const identity = identityFixture();
    const entity = idOf(await identity.write('entity'));
    const child = idOf(await identity.write('group', { name: 'child', policies: 'c', member_entity_ids: [entity] }));
    await identity.write('group', { name: 'parent', policies: 'p', member_group_ids: [child] });
    expect((await identity.store.policiesOf(entity))?.policies).toEqual(['c', 'p']);
    for (let time = 0; time < 2; time += 1) expect(await identity.remove(`group/id/${child}`)).toEqual({ status: 204, data: null });
    expect((await identity.store.policiesOf(entity))?.policies).toEqual([]);
    expect((await identity.read('group/name/parent')).data).toMatchObject({ member_group_ids: null });
    await identity.remove('group/name/parent');
    await identity.remove(`entity/id/${entity}`);
    expect([...identity.view.store.records.keys()]).toEqual([]);
  });

  test('a group of more members than one transaction takes is cleared completely', async () => {
    const identity = identityFixture();
    const ids: string[] = [];
    for (let count = 0; count < 130; count += 1) ids.push(idOf(await identity.write('entity')));
    const group = idOf(await identity.write('group', { name: 'g', member_entity_ids: ids }));
    expect((await identity.read('group/name/g')).data).toMatchObject({ member_entity_ids: [...ids].sort() });
    await identity.remove(`group/id/${group}`);
    expect([...identity.view.store.records].filter(([key, { json }]) => key.startsWith('member/') || json.includes(group))).toEqual([]);
  });

  test('members given again replace the former ones', async () => {
    const identity = identityFixture();
    const [a, b, c] = [idOf(await identity.write('entity')), idOf(await identity.write('entity')), idOf(await identity.write('entity'))];
    const group = idOf(await identity.write('group', { policies: 'p', member_entity_ids: [a, b, a] }));
    await identity.write(`group/id/${group}`, { member_entity_ids: [b, c] });
    expect((await identity.read(`group/id/${group}`)).data).toMatchObject({ member_entity_ids: [b, c].sort() });
    const policies = await Promise.all([a, b, c].map(async (id) => (await identity.store.policiesOf(id))?.policies));
    expect(policies).toEqual([[], ['p'], ['p']]);
  });
});

describe('groups in groups', () => {
  const edges = (count: number) => fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 14 });

  test('any graph inherits what a naive closure says, and edges that close a circle are 400s', async () => {
    await fc.assert(
      fc.asyncProperty(edges(6), fc.array(fc.nat(5), { maxLength: 3 }), async (wanted, memberOf) => {
        const identity = identityFixture();
        const entity = idOf(await identity.write('entity', { policies: 'own' }));
        const ids: string[] = [];
        for (let at = 0; at < 6; at += 1) {
          const members = memberOf.includes(at) ? [entity] : [];
          ids.push(idOf(await identity.write('group', { policies: [`p${at}`], member_entity_ids: members })));
        }
        const children = ids.map(() => new Set<number>());
        const reaches = (from: number, to: number): boolean => from === to || [...children[from]!].some((next) => reaches(next, to));
        for (const [parent, child] of wanted) {
          const closesCircle = reaches(child, parent);
          const member_group_ids = [...children[parent]!, child].map((at) => ids[at]!);
          const answer = await identity.write(`group/id/${ids[parent]}`, { member_group_ids });
          expect(answer.status).toBe(closesCircle ? 400 : 204);
          if (!closesCircle) children[parent]!.add(child);
        }
        const expected = ids.map((_, at) => at).filter((at) => memberOf.some((member) => reaches(at, member)));
        expect((await identity.store.policiesOf(entity))?.policies).toEqual(['own', ...expected.map((at) => `p${at}`)].sort());
        const view = (await identity.read(`entity/id/${entity}`)).data as { direct_group_ids: string[]; group_ids: string[] };
        expect([...view.direct_group_ids].sort()).toEqual([...new Set(memberOf)].map((at) => ids[at]).sort());
        expect([...view.group_ids].sort()).toEqual(expected.map((at) => ids[at]).sort());
      }),
      { numRuns: 25 },
    );
  });

  test('edges that close a circle only together cannot both be written', async () => {
    const identity = identityFixture();
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) ids.push(idOf(await identity.write('group')));
    const answers = await Promise.all(ids.map((id, at) => identity.write(`group/id/${id}`, { member_group_ids: [ids[(at + 1) % 3]] })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([204, 204, 400]);
  });
});
