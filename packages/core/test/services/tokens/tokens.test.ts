import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import { type TestMount } from '@strongroom/engine-testkit';
import { TestWorld } from '../../test-world.ts';

describe('tokens', () => {
  let world: TestWorld;
  let mount: TestMount;

  const create = async (order: Record<string, unknown> = {}, token = 'root', at = 'create'): Promise<CoreResponse> =>
    mount.call('update', `auth/token/${at}`, { token, data: order });
  const made = async (order: Record<string, unknown> = {}, token = 'root', at = 'create'): Promise<string> => {
    const answer = await create(order, token, at);
    expect(answer.errors).toBeUndefined();
    return answer.auth!.client_token;
  };
  const self = async (token: string): Promise<CoreResponse> => mount.call('read', 'auth/token/lookup-self', { token });
  const alive = async (token: string): Promise<boolean> => (await self(token)).status === 200;
  const role = async (name: string, order: Record<string, unknown>): Promise<CoreResponse> =>
    mount.call('update', `auth/token/roles/${name}`, { data: order });

  beforeEach(async () => {
    world = new TestWorld();
    mount = await world.start();
    await mount.write('roles/r', { ttl: '10h' });
    await mount.call('update', 'sys/policies/acl/all', {
      data: { policy: 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }' },
    });
    await mount.call('update', 'sys/policies/acl/some', {
      data: { policy: 'path "*" { capabilities = ["create", "read", "update", "delete", "list"] }' },
    });
  });
  afterEach(async () => world.close());

  describe('families', () => {
    test('children, and their children, end with the parent; orphans live on', async () => {
      const parent = await made({ policies: ['all'], ttl: '1h' });
      const child = await made({ ttl: '2h' }, parent);
      const grandchild = await made({ ttl: '2h' }, child);
      const orphan = await made({ ttl: '2h', no_parent: true }, parent);
      const other = await made({ ttl: '2h' }, parent, 'create-orphan');
      expect((await self(orphan)).data).toMatchObject({ orphan: true });
      expect((await self(child)).data).toMatchObject({ orphan: false });
      await mount.call('update', 'auth/token/revoke', { data: { token: parent } });
      expect(await Promise.all([parent, child, grandchild, orphan, other].map(alive))).toEqual([false, false, false, true, true]);
    });

    test('the expiry of a parent ends its children too', async () => {
      const parent = await made({ policies: ['all'], ttl: '1h' });
      const child = await made({ ttl: '2h' }, parent);
      await mount.advance('1h');
      expect(await alive(child)).toBe(false);
      expect((await world.keys()).filter((key) => key.startsWith('token-child/'))).toHaveLength(0);
    });

    test('revoke-orphan ends the token and makes its children orphans', async () => {
      const parent = await made({ policies: ['all'], ttl: '1h' });
      const child = await made({ ttl: '2h' }, parent);
      expect((await mount.call('update', 'auth/token/revoke-orphan', { data: { token: parent } })).status).toBe(204);
      expect(await alive(parent)).toBe(false);
      expect((await self(child)).data).toMatchObject({ orphan: true });
    });

    test('a deep and a wide family is revoked whole, and nothing of it stays', async () => {
      const before = (await world.keys()).length;
      const top = await made({ policies: ['all'], ttl: '1h' });
      let at = top;
      for (let i = 0; i < 60; i += 1) at = await made({ ttl: '1h' }, at);
      for (let i = 0; i < 300; i += 1) await made({ ttl: '1h' }, top);
      await mount.call('update', 'auth/token/revoke', { data: { token: top } });
      expect(await alive(at)).toBe(false);
      expect((await world.keys()).length).toBe(before);
    });

    test('leases end with their token, and so does its cubbyhole', async () => {
      const token = await made({ policies: ['all'], ttl: '1h' });
      await mount.call('read', 'acc/creds/r', { token });
      await mount.call('update', 'cubbyhole/a/b', { token, data: { x: '1' } });
      expect(world.outside.users.size).toBe(1);
      await mount.advance('1h');
      expect(world.outside.users.size).toBe(0);
      expect((await world.keys()).filter((key) => key.startsWith('cubbyhole/') || key.startsWith('token-lease/'))).toEqual([]);
    });

    test('a lease that cannot be taken back outlives its token, and is tried until it is', async () => {
      const token = await made({ policies: ['all'], ttl: '1h' });
      await mount.call('read', 'acc/creds/r', { token });
      world.outside.failing.add('one');
      expect((await mount.call('update', 'auth/token/revoke', { data: { token } })).status).toBe(204);
      expect(await alive(token)).toBe(false);
      world.outside.failing.clear();
      await mount.advance('1m');
      expect(world.outside.users.size).toBe(0);
      expect((await world.keys()).filter((key) => key.startsWith('token-lease/') || key.startsWith('lease/acc'))).toEqual([]);
    });

    test('a damaged child does not keep its parent from being revoked', async () => {
      const parent = await made({ policies: ['all'], ttl: '1h' });
      const known = new Set((await world.keys()).filter((key) => key.startsWith('token/')));
      const child = await made({ ttl: '2h' }, parent);
      const [key] = (await world.keys()).filter((each) => each.startsWith('token/') && !known.has(each));
      await mount.call('read', 'acc/creds/r', { token: child });
      await world.store.open().commit({ put: [{ key: key!, value: Buffer.from('nonsense') }] });
      expect((await mount.call('update', 'auth/token/revoke', { data: { token: parent } })).status).toBe(204);
      expect(await alive(parent)).toBe(false);
      expect(await alive(child)).toBe(false);
      expect(world.outside.users.size).toBe(0);
    });

    test('a server that dies while it revokes leaves a dead token, and the next one finishes', async () => {
      const parent = await made({ policies: ['all'], ttl: '10h' });
      await made({ ttl: '10h' }, parent);
      await mount.call('read', 'acc/creds/r', { token: parent });
      world.outside.hanging.add('one');
      void mount.call('update', 'auth/token/revoke', { data: { token: parent } });
      await world.clock.advance(0);
      world.driver.cut();
      world.outside.hanging.clear();
      mount = await world.start();
      expect(await alive(parent)).toBe(false);
      await mount.advance('2m');
      expect(world.outside.users.size).toBe(0);
      expect((await world.keys()).filter((key) => key.startsWith('token/'))).toHaveLength(1);
    });
  });

  describe('uses', () => {
    test('of 50 calls at once with a token of 3 uses exactly 3 succeed', async () => {
      const token = await made({ policies: ['all'], num_uses: 3, ttl: '1h' });
      const answers = await Promise.all(Array.from({ length: 50 }, async () => mount.call('read', 'acc/roles/r', { token })));
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
      expect(answers.filter((answer) => answer.status === 403)).toHaveLength(47);
      expect(await alive(token)).toBe(false);
    });

    test('300 calls at once with a token of 200 uses are all answered, 200 of them well', async () => {
      const token = await made({ policies: ['all'], num_uses: 200, ttl: '1h' });
      const answers = await Promise.all(Array.from({ length: 300 }, async () => mount.call('read', 'acc/roles/r', { token })));
      const statuses = answers.map((answer) => answer.status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(200);
      expect(statuses.filter((status) => status === 403)).toHaveLength(100);
    });

    test('a use is counted even where the call is denied', async () => {
      const token = await made({ policies: ['default'], num_uses: 2, ttl: '1h' });
      expect((await mount.call('read', 'acc/roles/r', { token })).status).toBe(403);
      expect((await self(token)).data).toMatchObject({ num_uses: 0 });
      expect(await alive(token)).toBe(false);
    });

    test('a secret issued with the last use is taken back at once', async () => {
      const token = await made({ policies: ['all'], num_uses: 1, ttl: '1h' });
      const answer = await mount.call('read', 'acc/creds/r', { token });
      expect(answer.errors).toEqual(['Secret cannot be returned; token had one use left, so leased credentials were immediately revoked.']);
      expect(world.outside.users.size).toBe(0);
    });

    test('a token of few uses makes no other tokens', async () => {
      const token = await made({ policies: ['all'], num_uses: 5, ttl: '1h' });
      expect((await create({}, token)).errors).toEqual(['restricted use token cannot generate child tokens']);
    });

    test('a token whose last call was cut off by a crash is ended by the schedule', async () => {
      const token = await made({ policies: ['all'], num_uses: 1, ttl: '10h' });
      world.outside.hanging.add('one');
      void mount.call('read', 'acc/creds/r', { token });
      await world.clock.advance(0);
      world.driver.cut();
      world.outside.hanging.clear();
      mount = await world.start();
      await mount.advance('4m');
      expect((await world.keys()).filter((key) => key.startsWith('token/'))).toHaveLength(1);
    });
  });

  describe('lifetimes', () => {
    test('a periodic token renewed in time lives on, and ends a period after its last renewal', async () => {
      const token = await made({ policies: ['all'], period: '1h' });
      for (let day = 0; day < 40; day += 1) {
        await mount.advance('50m');
        const renewed = await mount.call('update', 'auth/token/renew-self', { token, data: { increment: '5h' } });
        expect(renewed.auth!.lease_duration).toBe(3_600);
      }
      await mount.advance('1h');
      expect(await alive(token)).toBe(false);
    });

    test('an explicit maximum ends even a periodic token', async () => {
      const token = await made({ policies: ['all'], period: '1h', explicit_max_ttl: '90m' });
      await mount.advance('50m');
      const renewed = await mount.call('update', 'auth/token/renew-self', { token });
      expect(renewed.auth!.lease_duration).toBe(2_400);
      expect(renewed.warnings).toEqual(['TTL of "1h" exceeded the effective max_ttl of "40m"; TTL value is capped accordingly']);
      await mount.advance('40m');
      expect(await alive(token)).toBe(false);
    });

    test('a ttl beyond the explicit maximum is capped with a warning', async () => {
      const answer = await create({ policies: ['all'], ttl: '5h', explicit_max_ttl: '2h' });
      expect(answer.auth!.lease_duration).toBe(7_200);
      expect(answer.warnings).toEqual(['TTL of "5h" exceeded the effective max_ttl of "2h"; TTL value is capped accordingly']);
    });

    test('only sudo makes periodic tokens and orphans', async () => {
      const token = await made({ policies: ['some'], ttl: '1h' });
      expect((await create({ period: '1h' }, token)).errors).toEqual(['root or sudo privileges required to create periodic token']);
      expect((await create({ no_parent: true }, token)).errors).toEqual(['root or sudo privileges required to create orphan token']);
      expect((await create({ id: 'mine' }, token)).errors).toEqual(['root or sudo privileges required to specify token id']);
    });

    test('a lookup says when a token was issued and whether it can be renewed, that of the first root token too', async () => {
      const token = await made({ policies: ['all'], ttl: '1h' });
      const issued = { issue_time: expect.stringMatching(/^\d{4}-.*Z$/) };
      expect((await self(token)).data).toMatchObject({ ...issued, renewable: true });
      expect((await self('root')).data).toMatchObject({ ...issued, renewable: false, expire_time: null });
    });

    test('a lifetime that the explicit maximum cuts is a warning', async () => {
      const warning = 'TTL of "768h" exceeded the effective max_ttl of "10m"; TTL value is capped accordingly';
      expect((await create({ policies: ['all'], explicit_max_ttl: '10m' })).warnings).toContain(warning);
      expect((await create({ policies: ['all'], explicit_max_ttl: '10m', ttl: '5m' })).warnings ?? []).not.toContain(warning);
    });

    test('renewing an unknown token is a mistake of the caller', async () => {
      const { status, errors } = await mount.call('update', 'auth/token/renew', { data: { token: 's.unknown' } });
      expect([status, errors]).toEqual([400, ['token not found']]);
    });

    test('a token that cannot be renewed says so', async () => {
      const token = await made({ policies: ['all'], ttl: '1h', renewable: false });
      expect((await mount.call('update', 'auth/token/renew-self', { token })).errors).toEqual(['lease is not renewable']);
      expect((await mount.call('update', 'auth/token/renew-self')).errors).toEqual(['lease is not renewable']);
    });

    test('a renewal and a revocation at once leave the token dead', async () => {
      const token = await made({ policies: ['all'], ttl: '1h' });
      await Promise.all([
        mount.call('update', 'auth/token/renew', { data: { token, increment: '5h' } }),
        mount.call('update', 'auth/token/revoke', { data: { token } }),
        mount.call('update', 'auth/token/renew', { data: { token, increment: '6h' } }),
      ]);
      expect(await alive(token)).toBe(false);
      expect((await world.keys()).filter((key) => key.startsWith('schedule/'))).toEqual([]);
    });
  });

  describe('policies', () => {
    test('a child has at most what its parent has, unless the caller has sudo', async () => {
      const token = await made({ policies: ['some'], ttl: '1h' });
      expect((await create({ policies: ['all'] }, token)).errors).toEqual(['child policies must be subset of parent']);
      expect((await create({ policies: ['root'] }, token)).status).toBe(400);
      const sudo = await made({ policies: ['all'], ttl: '1h' });
      expect((await create({ policies: ['some'] }, sudo)).auth!.policies).toEqual(['default', 'some']);
      expect((await create({ policies: ['root'] }, sudo)).errors).toEqual([
        'root tokens may not be created without parent token being root',
      ]);
    });

    test('a role restricts policies and says what it allows', async () => {
      await role('narrow', { allowed_policies: ['a', 'b'], disallowed_policies: ['b'] });
      expect((await create({ policies: ['c'] }, 'root', 'create/narrow')).errors).toEqual([
        'token policies (["c"]) must be subset of the role\'s allowed policies (["a" "b" "default"]) or glob policies ([])',
      ]);
      expect((await create({ policies: ['b'] }, 'root', 'create/narrow')).errors).toEqual(['token policy "b" is disallowed by this role']);
      expect((await create({}, 'root', 'create/none')).errors).toEqual(['unknown role none']);
    });

    test('a role gives its tokens an orphanhood, a period, a type and a path of their own', async () => {
      await role('job', { orphan: true, token_period: '2h', path_suffix: 'ci', allowed_policies: ['some'], token_num_uses: 4 });
      const answer = await create({ policies: ['some'], ttl: '5h' }, 'root', 'create/job');
      expect(answer.auth).toMatchObject({ orphan: true, lease_duration: 7_200, num_uses: 4 });
      expect((await self(answer.auth!.client_token)).data).toMatchObject({ path: 'auth/token/create/job/ci', role: 'job', period: 7_200 });
      expect((await mount.call('update', 'sys/leases/revoke-prefix/auth/token/create/job')).status).toBe(204);
      expect(await alive(answer.auth!.client_token)).toBe(false);
    });
  });

  describe('batch tokens', () => {
    test('are stored nowhere, and cannot be renewed, revoked, or make others', async () => {
      const before = (await world.keys()).length;
      const token = await made({ type: 'batch', policies: ['all'], ttl: '1h' });
      expect(token).toMatch(/^b\./);
      expect((await world.keys()).length).toBe(before);
      expect((await self(token)).data).toMatchObject({ type: 'batch', accessor: '', ttl: 3_600 });
      expect((await mount.call('update', 'auth/token/renew-self', { token })).errors).toEqual(['batch tokens cannot be renewed']);
      expect((await mount.call('update', 'auth/token/revoke', { data: { token } })).errors).toEqual(['batch tokens cannot be revoked']);
      expect((await create({}, token)).errors).toEqual(['batch tokens cannot create more tokens']);
      expect((await create({ type: 'batch', policies: ['all'], num_uses: 2 })).errors).toEqual(['batch tokens cannot have "num_uses" set']);
      await mount.advance('1h');
      expect(await alive(token)).toBe(false);
    });

    test('end with their parent, and so do their leases', async () => {
      const parent = await made({ policies: ['all'], ttl: '2h' });
      const token = await made({ type: 'batch', ttl: '1h' }, parent);
      await mount.call('read', 'acc/creds/r', { token });
      await mount.call('update', 'auth/token/revoke', { data: { token: parent } });
      expect(await alive(token)).toBe(false);
      expect(world.outside.users.size).toBe(0);
    });

    test('a forged or damaged one is refused', async () => {
      const token = await made({ type: 'batch', policies: ['all'], ttl: '1h' });
      for (const bad of [
        `${token}A`,
        `b.${'A'.repeat(80)}`,
        'b.',
        token.slice(0, -6),
        `b.${token.slice(2).split('').reverse().join('')}`,
      ]) {
        expect((await self(bad)).status).toBe(403);
      }
    });
  });

  describe('accessors', () => {
    test('look up, renew and revoke without showing the token', async () => {
      const answer = await create({ policies: ['all'], ttl: '1h' });
      const { accessor } = answer.auth!;
      const looked = await mount.call('update', 'auth/token/lookup-accessor', { data: { accessor } });
      expect(looked.data).toMatchObject({ id: '', accessor });
      expect((await mount.call('update', 'auth/token/renew-accessor', { data: { accessor, increment: '2h' } })).auth).toMatchObject({
        client_token: '',
        lease_duration: 7_200,
      });
      const listed = (await mount.call('list', 'auth/token/accessors/')).data as { keys: string[] };
      expect(listed.keys).toContain(accessor);
      expect((await mount.call('update', 'auth/token/revoke-accessor', { data: { accessor } })).status).toBe(204);
      expect((await mount.call('update', 'auth/token/lookup-accessor', { data: { accessor } })).errors).toEqual([
        '1 error occurred:\n\t* invalid accessor\n\n',
      ]);
      expect((await mount.call('update', 'auth/token/revoke-accessor', { data: { accessor } })).warnings).toEqual([
        'No token found with this accessor',
      ]);
    });

    test('one damaged record does not hide the others from the list', async () => {
      for (let i = 0; i < 300; i += 1) await made({ policies: ['all'], ttl: '1h' });
      const [first] = await world.store.open().range({ prefix: 'accessor/' });
      await world.store.open().commit({ put: [{ key: first!.key, value: Buffer.from('nonsense') }] });
      expect(((await mount.call('list', 'auth/token/accessors/')).data as { keys: string[] }).keys).toHaveLength(300);
    });
  });

  test('no token is stored in clear', async () => {
    const token = await made({ policies: ['all'], ttl: '1h' });
    const entries = await world.store.open().range({});
    for (const { key, value } of entries) {
      expect(key.includes(token)).toBe(false);
      expect(Buffer.from(value).includes(token)).toBe(false);
    }
  });
});
