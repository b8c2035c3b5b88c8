import { describe, expect, test } from '@jest/globals';
import { MemoryView } from '@strongroom/engine-testkit';
import fc from 'fast-check';
import { identityFixture, idOf, type IdentityFixture } from './identity-fixture.ts';

const ldap = 'auth_ldap_1';

async function outsideGroup(identity: IdentityFixture, name: string, mount_accessor = ldap): Promise<string> {
  const id = idOf(await identity.write('group', { name: `${name} ${mount_accessor.slice(-1)}`, type: 'external', policies: `of-${name}` }));
  await identity.write('group-alias', { name, mount_accessor, canonical_id: id });
  return id;
}

function bob(groupAliases?: readonly string[], metadata: Record<string, string> = { name: 'bob' }) {
  return { mountAccessor: ldap, alias: { name: 'bob', metadata }, ...(groupAliases ? { groupAliases } : {}) };
}

const policies = async (identity: IdentityFixture, id: string) => (await identity.store.policiesOf(id))?.policies;

describe('logins', () => {
  test('the first makes entity and alias; later ones find them, whatever the case', async () => {
    const identity = identityFixture();
    const first = await identity.store.resolveLogin(bob());
    expect(first).toEqual({ entityId: expect.any(String), created: true });
    const again = await identity.store.resolveLogin({ ...bob(), alias: { name: 'BOB', metadata: { name: 'bob' } } });
    expect(again).toEqual({ entityId: first.entityId, created: false });
    expect((await identity.read(`entity/id/${first.entityId}`)).data).toMatchObject({
      name: expect.stringMatching(/^entity_[0-9a-f]{8}$/),
      aliases: [{ name: 'bob', mount_accessor: ldap, metadata: { name: 'bob' }, canonical_id: first.entityId }],
    });
    expect((await identity.store.resolveLogin({ ...bob(), mountAccessor: 'auth_ldap_2' })).entityId).not.toBe(first.entityId);
  });

  test('20 first logins at once give one entity, one of them created', async () => {
    const identity = identityFixture();
    await outsideGroup(identity, 'eng');
    const results = await Promise.all(Array.from({ length: 20 }, () => identity.store.resolveLogin(bob(['eng']))));
    expect(new Set(results.map((result) => result.entityId)).size).toBe(1);
    expect(results.filter((result) => result.created)).toHaveLength(1);
    expect(identity.view.conflicts).toBeGreaterThan(0);
    expect((await identity.list('entity/id')).data).toMatchObject({ keys: [results[0]!.entityId] });
    expect((await identity.list('entity-alias/id')).data).toMatchObject({ keys: [expect.any(String)] });
  });

  test('a known user with the same metadata and groups writes nothing', async () => {
    const identity = identityFixture();
    for (const name of ['eng', 'ops']) await outsideGroup(identity, name);
    await identity.store.resolveLogin(bob(['eng', 'unmapped', 'ops']));
    const before = identity.view.commits;
    await identity.store.resolveLogin(bob(['OPS', 'eng', 'eng', 'other']));
    await identity.store.resolveLogin(bob());
    expect(identity.view.commits).toBe(before);
  });

  test('metadata that differs is refreshed', async () => {
    const identity = identityFixture();
    const { entityId } = await identity.store.resolveLogin(bob());
    identity.clock.advance(5);
    await identity.store.resolveLogin(bob(undefined, { name: 'bob', site: 'x' }));
    const { aliases } = (await identity.read(`entity/id/${entityId}`)).data as { aliases: unknown[] };
    expect(aliases).toMatchObject([{ metadata: { name: 'bob', site: 'x' }, last_update_time: '2030-01-01T00:00:05.000Z' }]);
  });

  test('joins the groups that the directory names, leaves those it no longer names, and only those of its mount', async () => {
    const identity = identityFixture();
    const [eng, ops] = [await outsideGroup(identity, 'eng'), await outsideGroup(identity, 'ops')];
    const partners = await outsideGroup(identity, 'eng', 'auth_ldap_2');
    const { entityId } = await identity.store.resolveLogin(bob(['Eng', 'ops']));
    const partner = idOf(await identity.write('entity-alias', { name: 'bob@p', mount_accessor: 'auth_ldap_2', canonical_id: entityId }));
    expect(partner).toBeDefined();
    await identity.store.resolveLogin({ mountAccessor: 'auth_ldap_2', alias: { name: 'bob@p' }, groupAliases: ['eng'] });
    const direct = async (): Promise<string[]> =>
      ((await identity.read(`entity/id/${entityId}`)).data as { direct_group_ids: string[] }).direct_group_ids.sort();
    expect(await direct()).toEqual([eng, ops, partners].sort());
    await identity.store.resolveLogin(bob(['ops']));
    expect(await direct()).toEqual([ops, partners].sort());
    expect(await policies(identity, entityId)).toEqual(['of-eng', 'of-ops']);
    expect((await identity.read(`group/id/${eng}`)).data).toMatchObject({ member_entity_ids: null });
    expect((await identity.read(`group/id/${ops}`)).data).toMatchObject({ member_entity_ids: [entityId] });
    await identity.store.resolveLogin(bob());
    expect(await direct()).toEqual([ops, partners].sort());
    await identity.store.resolveLogin(bob([]));
    expect(await direct()).toEqual([partners]);
  });

  test('a login leaves memberships that operators set alone', async () => {
    const identity = identityFixture();
    const { entityId } = await identity.store.resolveLogin(bob([]));
    await identity.write('group', { policies: 'internal', member_entity_ids: [entityId] });
    await identity.store.resolveLogin(bob([]));
    expect(await policies(identity, entityId)).toEqual(['internal']);
  });

  test('renewals join and leave too, also under the id of an entity that was merged; unknown entities are passed over', async () => {
    const identity = identityFixture();
    for (const name of ['eng', 'ops']) await outsideGroup(identity, name);
    const { entityId } = await identity.store.resolveLogin(bob(['eng']));
    await identity.store.refreshGroups({ entityId, mountAccessor: ldap, groupAliases: ['ops'] });
    expect(await policies(identity, entityId)).toEqual(['of-ops']);
    const to = idOf(await identity.write('entity'));
    await identity.write('entity/merge', { from_entity_ids: [entityId], to_entity_id: to });
    const before = identity.view.commits;
    await identity.store.refreshGroups({ entityId, mountAccessor: ldap, groupAliases: ['ops'] });
    await identity.store.refreshGroups({ entityId: 'unknown', mountAccessor: ldap, groupAliases: ['ops'] });
    expect(identity.view.commits).toBe(before);
    await identity.store.refreshGroups({ entityId, mountAccessor: ldap, groupAliases: ['eng'] });
    expect(await policies(identity, to)).toEqual(['of-eng']);
  });

  test('what an alias had joined ends with the alias that a merge drops, whichever side it was on', async () => {
    for (const keeps of ['target', 'source'] as const) {
      const identity = identityFixture();
      const groups = { target: await outsideGroup(identity, 'eng'), source: await outsideGroup(identity, 'ops') };
      const target = (await identity.store.resolveLogin(bob(['eng']))).entityId;
      const source = (await identity.store.resolveLogin({ mountAccessor: ldap, alias: { name: 'robert' }, groupAliases: ['ops'] }))
        .entityId;
      const aliasOf = async (id: string): Promise<string> =>
        ((await identity.read(`entity/id/${id}`)).data as { aliases: { id: string }[] }).aliases[0]!.id;
      const kept = await aliasOf(keeps === 'target' ? target : source);
      await identity.write('entity/merge', { from_entity_ids: [source], to_entity_id: target, conflicting_alias_ids_to_keep: [kept] });
      expect((await identity.read(`entity/id/${target}`)).data).toMatchObject({
        aliases: [{ id: kept }],
        direct_group_ids: [groups[keeps]],
      });
      for (const side of ['target', 'source'] as const) {
        const { data } = await identity.read(`group/id/${groups[side]}`);
        expect(data).toMatchObject({ member_entity_ids: side === keeps ? [target] : null });
      }
    }
  });

  test('several sources with clashes are refused together, all clashes named, and nothing happens', async () => {
    const identity = identityFixture();
    const ids = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => (await identity.store.resolveLogin({ mountAccessor: ldap, alias: { name } })).entityId),
    );
    const merge = async (more: Record<string, unknown>) =>
      identity.write('entity/merge', { to_entity_id: ids[0]!, from_entity_ids: ids.slice(1), ...more });
    const before = identity.view.commits;
    const refused = await merge({});
    expect(refused.errors?.[0]).toMatch(/^3 errors occurred:/);
    expect((await merge({ conflicting_alias_ids_to_keep: ['x'] })).errors?.[0]).toMatch(/^3 errors occurred:/);
    expect(identity.view.commits).toBe(before);
  });

  test('any run of logins ends in the groups that the last one of each mount named', async () => {
    const names = ['a', 'b', 'c'];
    const login = fc.record({ mount: fc.constantFrom(ldap, 'auth_ldap_2'), groups: fc.subarray(names), renewal: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(login, { minLength: 1, maxLength: 6 }), async (logins) => {
        const identity = identityFixture();
        const ids = new Map<string, string>();
        for (const mount of [ldap, 'auth_ldap_2'])
          for (const name of names) ids.set(`${mount} ${name}`, await outsideGroup(identity, name, mount));
        const { entityId } = await identity.store.resolveLogin(bob());
        await identity.write('entity-alias', { name: 'bob', mount_accessor: 'auth_ldap_2', canonical_id: entityId });
        const last = new Map<string, string[]>();
        for (const { mount, groups, renewal } of logins) {
          last.set(mount, groups);
          const common = { mountAccessor: mount, groupAliases: groups };
          await (renewal
            ? identity.store.refreshGroups({ entityId, ...common })
            : identity.store.resolveLogin({ alias: { name: 'bob' }, ...common }));
        }
        const expected = [...last].flatMap(([mount, groups]) => groups.map((name) => ids.get(`${mount} ${name}`)!)).sort();
        const { direct_group_ids } = (await identity.read(`entity/id/${entityId}`)).data as { direct_group_ids: string[] };
        expect([...direct_group_ids].sort()).toEqual(expected);
        for (const id of ids.values()) {
          const { member_entity_ids } = (await identity.read(`group/id/${id}`)).data as { member_entity_ids: string[] | null };
          expect(member_entity_ids).toEqual(expected.includes(id) ? [entityId] : null);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('a login whose method takes all variants for one name', () => {
  const as = (name: string, more: { anyVariant?: boolean; others?: string[] } = { anyVariant: true }) => ({
    mountAccessor: ldap,
    alias: { name, ...more },
  });
  const owner = async (identity: IdentityFixture, name: string): Promise<string> =>
    ((await identity.write('entity-alias', { name, mount_accessor: ldap })).data as { canonical_id: string }).canonical_id;
  const entity = async (identity: IdentityFixture, ...login: Parameters<typeof as>) =>
    (await identity.store.resolveLogin(as(...login))).entityId;

  test('finds the alias of another variant, whichever of the two is folded', async () => {
    const identity = identityFixture();
    const old = await owner(identity, 'User  One');
    expect([await entity(identity, 'user one'), await entity(identity, 'ＵＳＥＲ one')]).toEqual([old, old]);
    const plain = await owner(identity, 'straße');
    expect(await entity(identity, 'STRASSE')).toBe(plain);
    expect(await entity(identity, 'straße', {})).toBe(plain);
    expect(await entity(identity, 'strasse', {})).not.toBe(plain);
  });

  test('prefers the very variant, but for a disabled entity, which all of them lead to', async () => {
    const identity = identityFixture();
    const [wide, plain] = [await owner(identity, 'ａｎｎ'), await owner(identity, 'ann')];
    expect([await entity(identity, 'ann'), await entity(identity, 'ａｎｎ')]).toEqual([plain, wide]);
    await identity.write(`entity/id/${wide}`, { disabled: true });
    expect([await entity(identity, 'ann'), await entity(identity, 'ａｎｎ')]).toEqual([wide, wide]);
  });

  test('finds what an earlier version stored, a page at a time and once', async () => {
    const identity = identityFixture();
    const owners = new Map<string, string>();
    for (let n = 0; n < 150; n += 1) owners.set(`person ${n}`, await owner(identity, `Person\u00a0${n}`));
    for (const key of identity.view.store.records.keys())
      if (key.startsWith('entity-alias-spelling/')) identity.view.store.records.delete(key);
    for (const name of ['person 0', 'person 77', 'person 149']) expect(await entity(identity, name)).toBe(owners.get(name));
    const again = identityFixture(identity.view);
    const before = identity.view.reads;
    expect(await entity(again, 'person 5')).toBe(owners.get('person 5'));
    expect(identity.view.reads - before).toBeLessThan(10);
  });

  test('forgets variants with their alias, its entity or the mount', async () => {
    const identity = identityFixture();
    const variants = () => [...identity.view.store.records.keys()].filter((key) => key.startsWith('entity-alias-spell'));
    const first = await owner(identity, 'A  B');
    await owner(identity, 'a\u00a0B');
    const { aliases } = (await identity.read(`entity/id/${first}`)).data as { aliases: { id: string }[] };
    await identity.write(`entity-alias/id/${aliases[0]!.id}`, { name: 'plain' });
    expect(variants()).toHaveLength(1);
    await entity(identity, 'a b');
    expect(variants()).toHaveLength(2);
    await identity.store.aliasesOfMountRemoved(ldap);
    expect(variants()).toEqual([]);
  });

  test('is known by the other names that it has proven, where its own has no alias; a disabled entity of any of them wins', async () => {
    const identity = identityFixture();
    const mail = await owner(identity, 'ann@example.org');
    const proven = { anyVariant: true, others: ['ann@example.org'] };
    expect(await entity(identity, 'ann', proven)).toBe(mail);
    const own = await owner(identity, 'ann');
    expect(await entity(identity, 'ann', proven)).toBe(own);
    await identity.write(`entity/id/${mail}`, { disabled: true });
    expect(await entity(identity, 'ann', proven)).toBe(mail);
  });
});

describe('the alias of an external group', () => {
  async function joined(): Promise<{ identity: IdentityFixture; group: string; alias: string; entityId: string }> {
    const identity = identityFixture();
    const created = await identity.write('group-alias', { name: 'eng', mount_accessor: ldap });
    const { id: alias, canonical_id: group } = created.data as { id: string; canonical_id: string };
    await identity.write(`group/id/${group}`, { policies: 'of-eng' });
    const { entityId } = await identity.store.resolveLogin(bob(['eng']));
    return { identity, group, alias, entityId };
  }

  test('makes an external group when none is named', async () => {
    const { identity, group, alias, entityId } = await joined();
    expect((await identity.read(`group/id/${group}`)).data).toMatchObject({
      name: expect.stringMatching(/^group_[0-9a-f]{8}$/),
      type: 'external',
      member_entity_ids: [entityId],
      alias: { id: alias, canonical_id: group, name: 'eng', mount_path: 'auth/ldap/', mount_type: 'ldap' },
    });
    expect((await identity.read(`group-alias/id/${alias}`)).data).toMatchObject({ name: 'eng', canonical_id: group, mount_accessor: ldap });
    expect(await identity.write(`group-alias/id/${alias}`, { name: 'eng', mount_accessor: ldap })).toEqual({ status: 204, data: null });
  });

  test.each([
    ['deleted', (identity: IdentityFixture, alias: string) => identity.remove(`group-alias/id/${alias}`)],
    [
      'renamed',
      (identity: IdentityFixture, alias: string) => identity.write(`group-alias/id/${alias}`, { name: 'ops', mount_accessor: ldap }),
    ],
    [
      'moved to another mount',
      (identity: IdentityFixture, alias: string) =>
        identity.write(`group-alias/id/${alias}`, { name: 'eng', mount_accessor: 'auth_ldap_2' }),
    ],
  ])('once %s gives its policies to nobody who joined before', async (_, act) => {
    const { identity, group, alias, entityId } = await joined();
    expect(await policies(identity, entityId)).toEqual(['of-eng']);
    await act(identity, alias);
    expect(await policies(identity, entityId)).toEqual([]);
    expect((await identity.read(`group/id/${group}`)).data).toMatchObject({ member_entity_ids: null });
    expect([...identity.view.store.records.keys()].filter((key) => key.startsWith('member/'))).toEqual([]);
  });

  test('a change of case alone leaves the members', async () => {
    const { identity, alias, entityId } = await joined();
    await identity.write(`group-alias/id/${alias}`, { name: 'Eng', mount_accessor: ldap });
    expect(await policies(identity, entityId)).toEqual(['of-eng']);
  });

  test('moves to another group, whose members it then brings', async () => {
    const { identity, group, alias, entityId } = await joined();
    const other = idOf(await identity.write('group', { type: 'external', policies: 'of-other' }));
    const moved = await identity.write(`group-alias/id/${alias}`, { name: 'eng', mount_accessor: ldap, canonical_id: other });
    expect(moved.data).toEqual({ id: alias, canonical_id: other });
    expect(await policies(identity, entityId)).toEqual([]);
    await identity.store.resolveLogin(bob(['eng']));
    expect(await policies(identity, entityId)).toEqual(['of-other']);
    expect((await identity.read(`group/id/${group}`)).data).toMatchObject({ alias: {}, member_entity_ids: null });
  });

  test('a group deleted while somebody logs in leaves no policies behind', async () => {
    const identity = identityFixture();
    const group = await outsideGroup(identity, 'eng');
    const [{ entityId }] = await Promise.all([identity.store.resolveLogin(bob(['eng'])), identity.remove(`group/id/${group}`)]);
    expect(await policies(identity, entityId)).toEqual([]);
    await identity.store.resolveLogin(bob(['eng']));
    expect([...identity.view.store.records].filter(([, { json }]) => json.includes(group))).toEqual([]);
  });
});

describe('an unmounted login method', () => {
  test('takes its aliases and the memberships they gave along; the entities stay', async () => {
    const identity = identityFixture();
    await outsideGroup(identity, 'eng');
    const ids: string[] = [];
    for (let at = 0; at < 70; at += 1) {
      ids.push((await identity.store.resolveLogin({ mountAccessor: ldap, alias: { name: `u${at}` }, groupAliases: ['eng'] })).entityId);
    }
    await identity.store.resolveLogin({ mountAccessor: 'auth_ldap_2', alias: { name: 'u0' } });
    await identity.store.aliasesOfMountRemoved(ldap);
    expect((await identity.list('entity/id')).data).toMatchObject({ keys: expect.arrayContaining(ids) });
    expect(((await identity.list('entity-alias/id')).data as { keys: string[] }).keys).toHaveLength(1);
    expect(await identity.list('group-alias/id')).toMatchObject({ status: 404 });
    for (const id of ids) expect(await policies(identity, id)).toEqual([]);
    expect([...identity.view.store.records].filter(([key, { json }]) => key.includes(ldap) || json.includes(ldap))).toEqual([]);
  });
});

describe('what an entity adds to requests', () => {
  test('is read once, and the same array until something changes', async () => {
    const identity = identityFixture();
    const entity = idOf(await identity.write('entity', { policies: ['b', 'a'] }));
    const group = idOf(await identity.write('group', { policies: ['a', 'c'], member_entity_ids: [entity] }));
    const first = await identity.store.policiesOf(entity);
    expect(first).toEqual({ disabled: false, policies: ['a', 'b', 'c'] });
    const reads = identity.view.reads;
    expect(await identity.store.policiesOf(entity)).toBe(first);
    await identity.store.templateContext(entity);
    expect(identity.view.reads).toBe(reads);
    await identity.write(`group/id/${group}`, { policies: 'd' });
    expect(await policies(identity, entity)).toEqual(['a', 'b', 'd']);
    await identity.write(`entity/id/${entity}`, { disabled: true });
    expect(await identity.store.policiesOf(entity)).toEqual({ disabled: true, policies: ['a', 'b', 'd'] });
    await identity.remove(`entity/id/${entity}`);
    expect(await identity.store.policiesOf(entity)).toBeUndefined();
  });

  test('follows what another process writes, once told', async () => {
    const here = identityFixture();
    const there = identityFixture(here.view);
    here.view.store.listeners.push((key) => there.store.invalidate(key));
    const entity = idOf(await here.write('entity', { policies: 'a' }));
    expect(await policies(there, entity)).toEqual(['a']);
    await here.write(`entity/id/${entity}`, { policies: 'b' });
    expect(await policies(there, entity)).toEqual(['b']);
    const group = idOf(await here.write('group', { policies: 'g', member_entity_ids: [entity] }));
    expect(await policies(there, entity)).toEqual(['b', 'g']);
    await here.remove(`group/id/${group}`);
    expect(await policies(there, entity)).toEqual(['b']);
    const to = idOf(await here.write('entity', { policies: 'to' }));
    await here.write('entity/merge', { from_entity_ids: [entity], to_entity_id: to });
    expect(await policies(there, entity)).toEqual(['to']);
  });

  test('a read that a write overtakes is not kept', async () => {
    const identity = identityFixture();
    const entity = idOf(await identity.write('entity', { policies: 'p0' }));
    for (let round = 1; round <= 20; round += 1) {
      const reads = Array.from({ length: 5 }, () => identity.store.policiesOf(entity));
      await Promise.all([identity.write(`entity/id/${entity}`, { policies: `p${round}` }), ...reads, identity.store.policiesOf(entity)]);
      expect(await policies(identity, entity)).toEqual([`p${round}`]);
    }
  });

  test('a write whose answer was lost is not hidden by what was kept', async () => {
    const identity = identityFixture();
    const entity = idOf(await identity.write('entity', { policies: 'before' }));
    expect(await policies(identity, entity)).toEqual(['before']);
    identity.view.loseAnswers = 1;
    await expect(identity.write(`entity/id/${entity}`, { policies: 'after' })).rejects.toThrow('connection to the store was lost');
    expect(await policies(identity, entity)).toEqual(['after']);
  });

  test('costs the same however many groups and entities there are', async () => {
    const view = new MemoryView();
    const identity = identityFixture(view);
    const entity = idOf(await identity.write('entity'));
    const child = idOf(await identity.write('group', { policies: 'c', member_entity_ids: [entity] }));
    await identity.write('group', { policies: 'p', member_group_ids: [child] });
    const cost = async (): Promise<number> => {
      const before = view.reads;
      await identityFixture(view).store.policiesOf(entity);
      return view.reads - before;
    };
    const small = await cost();
    for (let at = 0; at < 40; at += 1) await identity.write('group', { policies: `x${at}` });
    for (let at = 0; at < 40; at += 1) await identity.write('entity');
    expect(await cost()).toBe(small);
    expect(small).toBe(3);
  });

  test('keeps no more entities than its limit, those in use rather than the others', async () => {
    const identity = identityFixture(new MemoryView(), { cachedEntities: 10 });
    const ids: string[] = [];
    for (let at = 0; at < 30; at += 1) ids.push(idOf(await identity.write('entity')));
    const inUse = ids[0]!;
    for (const id of ids) {
      await identity.store.policiesOf(id);
      await identity.store.policiesOf(inUse);
    }
    const cost = async (id: string): Promise<number> => {
      const before = identity.view.reads;
      await identity.store.policiesOf(id);
      return identity.view.reads - before;
    };
    expect(await cost(inUse)).toBe(0);
    expect(await cost(ids[1]!)).toBeGreaterThan(0);
  });

  test('the template context names entity, aliases and all groups', async () => {
    const identity = identityFixture();
    const { entityId } = await identity.store.resolveLogin(bob());
    await identity.write(`entity/id/${entityId}`, { name: 'Bob', metadata: { team: 'x' } });
    const child = idOf(await identity.write('group', { name: 'child', metadata: { a: 'b' }, member_entity_ids: [entityId] }));
    const parent = idOf(await identity.write('group', { name: 'parent', member_group_ids: [child] }));
    expect(await identity.store.templateContext(entityId)).toEqual({
      entity: {
        id: entityId,
        name: 'Bob',
        metadata: { team: 'x' },
        aliases: { [ldap]: { id: expect.any(String), name: 'bob', metadata: { name: 'bob' }, custom_metadata: {} } },
      },
      groups: [
        { id: child, name: 'child', metadata: { a: 'b' } },
        { id: parent, name: 'parent', metadata: {} },
      ],
    });
    expect(await identity.store.templateContext('unknown')).toBeUndefined();
  });
});
