import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore, manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreResponse } from '../../../src/index.ts';
import { gateLogin } from './gate-engine.ts';

const HOME = '10.0.0.7';
const BEYOND = 'child policies must be subset of parent';

describe('delegation', () => {
  let core: Core;
  let clock: ManualClock;
  let door: ReturnType<typeof gateLogin>;
  const call = async (
    path: string,
    data: Record<string, unknown> = {},
    { token = 'root', from = HOME, operation = 'update' as 'update' | 'read' } = {},
  ): Promise<CoreResponse> => core.handle({ operation, path, data, token, remoteAddress: from });
  const create = async (order: Record<string, unknown>, token: string, at = 'create'): Promise<CoreResponse> =>
    call(`auth/token/${at}`, order, { token });
  const made = async (order: Record<string, unknown>, token = 'root', at = 'create'): Promise<string> => {
    const answer = await create(order, token, at);
    expect(answer.errors).toBeUndefined();
    return answer.auth!.client_token;
  };
  const policiesOf = async (order: Record<string, unknown>, token: string, at: string): Promise<unknown> => {
    const answer = await create(order, token, at);
    return answer.errors ?? answer.auth!.token_policies;
  };
  const role = async (name: string, data: Record<string, unknown>): Promise<void> => {
    expect((await call(`auth/token/roles/${name}`, data)).errors).toBeUndefined();
  };
  const look = async (token: string, from = HOME): Promise<Record<string, unknown>> =>
    (await call('auth/token/lookup-self', {}, { token, from, operation: 'read' })).data as Record<string, unknown>;
  const worksFrom = async (token: string, ...addresses: string[]): Promise<boolean[]> =>
    Promise.all(
      addresses.map(async (from) => (await call('auth/token/lookup-self', {}, { token, from, operation: 'read' })).status === 200),
    );
  const login = async (): Promise<CoreResponse> => call('auth/gate/login', {}, { token: '' });

  beforeEach(async () => {
    clock = manualClock();
    door = gateLogin();
    core = await checkedCore({ storage: memoryStorage(), plugins: [door.plugin], devRootToken: 'root', clock });
    await call('sys/auth/gate', { type: 'gate' });
    const paths = (capabilities: string): string => `path "*" { capabilities = [${capabilities}] }`;
    await call('sys/policies/acl/team', { policy: paths('"create", "read", "update", "delete", "list"') });
    await call('sys/policies/acl/chief', { policy: paths('"create", "read", "update", "delete", "list", "sudo"') });
    for (const name of ['other', 'extra']) await call(`sys/policies/acl/${name}`, { policy: paths('"read"') });
  });
  afterEach(async () => core.close());

  describe('of policies', () => {
    test('a role without allowed policies gives at most what the caller has', async () => {
      await role('plain', {});
      const maker = await made({ policies: ['team', 'extra'] });
      expect(await policiesOf({ policies: ['other'] }, maker, 'create/plain')).toEqual([BEYOND]);
      expect(await policiesOf({ policies: ['team', 'other'] }, maker, 'create/plain')).toEqual([BEYOND]);
      expect(await policiesOf({ policies: ['nobody-wrote-it'] }, maker, 'create/plain')).toEqual([BEYOND]);
      expect(await policiesOf({ policies: ['extra'] }, maker, 'create/plain')).toEqual(['default', 'extra']);
      expect(await policiesOf({}, maker, 'create/plain')).toEqual(['default', 'extra', 'team']);
      expect(await policiesOf({ policies: ['other'] }, 'root', 'create/plain')).toEqual(['default', 'other']);
    });

    describe('that take away what others give', () => {
      const DENIED = 'secret/guarded';
      const may = async (token: string): Promise<boolean> =>
        (
          (await core.handle({ operation: 'update', path: 'sys/capabilities', token: 'root', data: { token, paths: [DENIED] } })).data as {
            capabilities: string[];
          }
        ).capabilities.includes('read');
      let maker: string;
      beforeEach(async () => {
        await call('sys/policies/acl/grant', {
          policy: 'path "secret/*" { capabilities = ["read"] }\npath "auth/token/create*" { capabilities = ["update"] }',
        });
        await call('sys/policies/acl/guard', { policy: `path "${DENIED}" { capabilities = ["deny"] }` });
        await call('sys/policies/acl/narrow', { policy: `path "${DENIED}" { capabilities = ["list"] }` });
        maker = await made({ policies: ['grant', 'guard'] });
      });

      test('a child without the policy that denies is still denied, and so is what it makes', async () => {
        expect(await may(maker)).toBe(false);
        const first = await made({ policies: ['grant'] }, maker);
        expect(await may(first)).toBe(false);
        expect(await may(await made({ policies: ['grant'] }, first))).toBe(false);
        expect(await may(await made({ policies: ['grant'], type: 'batch' }, maker))).toBe(false);
      });

      test('the same holds where a more exact rule only gives less', async () => {
        const narrowed = await made({ policies: ['grant', 'narrow'] });
        expect(await may(await made({ policies: ['grant'] }, narrowed))).toBe(false);
      });

      test('an explanation says that the maker has no more', async () => {
        const token = await made({ policies: ['grant'] }, maker);
        const { data } = await core.handle({
          operation: 'update',
          path: 'sys/policies/explain',
          token: 'root',
          data: { token, path: DENIED },
        });
        expect(data).toMatchObject({ allowed: false, reason: expect.stringMatching(/has no more than the one that made it: .*denies it/) });
      });

      test('a role that names the policies decides, and so does root', async () => {
        await role('named', { allowed_policies: ['grant'] });
        expect(await may(await made({}, maker, 'create/named'))).toBe(true);
        expect(await may(await made({ policies: ['grant'] }, 'root'))).toBe(true);
      });
    });

    test('so does one that makes orphans, batch or periodic tokens, or only takes policies away', async () => {
      const maker = await made({ policies: ['team', 'extra'] });
      const orders = {
        orphan: { orphan: true },
        batch: { token_type: 'batch' },
        periodic: { token_period: '1h' },
        bounded: { token_num_uses: 3 },
      };
      for (const [name, order] of Object.entries(orders)) {
        await role(name, order);
        expect([name, await policiesOf({ policies: ['other'] }, maker, `create/${name}`)]).toEqual([name, [BEYOND]]);
        expect([name, await policiesOf({ policies: ['team'] }, maker, `create/${name}`)]).toEqual([name, ['default', 'team']]);
      }
      await role('less', { disallowed_policies: ['extra'], disallowed_policies_glob: ['sec*'] });
      expect(await policiesOf({ policies: ['other'] }, maker, 'create/less')).toEqual([BEYOND]);
      expect(await policiesOf({ policies: ['extra'] }, maker, 'create/less')).toEqual(['token policy "extra" is disallowed by this role']);
      expect(await policiesOf({ policies: ['team'] }, maker, 'create/less')).toEqual(['default', 'team']);
    });

    test('with allowed policies, or globs of them, the role decides', async () => {
      await role('lists', { allowed_policies: ['Other'] });
      await role('globs', { allowed_policies_glob: ['oth*'] });
      const maker = await made({ policies: ['team'], no_default_policy: true });
      for (const at of ['create/lists', 'create/globs'])
        expect(await policiesOf({ policies: ['other'] }, maker, at)).toEqual(['default', 'other']);
      expect(await policiesOf({}, maker, 'create/lists')).toEqual(['default', 'other']);
      expect((await create({ policies: ['team'] }, maker, 'create/lists')).status).toBe(400);
    });

    test('default is not added for a caller who lacks it', async () => {
      await role('plain', {});
      const maker = await made({ policies: ['team'], no_default_policy: true });
      for (const at of ['create', 'create-orphan', 'create/plain']) {
        expect([at, await policiesOf({ policies: ['team'] }, maker, at)]).toEqual([at, ['team']]);
        expect([at, await policiesOf({}, maker, at)]).toEqual([at, ['team']]);
        expect([at, await policiesOf({ policies: ['default'] }, maker, at)]).toEqual([at, [BEYOND]]);
      }
    });

    test('root is for root alone, however it is called and whatever a role lists', async () => {
      await role('plain', {});
      await role('all', { allowed_policies_glob: ['*'] });
      await role('root', { allowed_policies: ['ROOT'] });
      const team = await made({ policies: ['team'] });
      const chief = await made({ policies: ['chief'] });
      for (const token of [team, chief]) {
        for (const variant of ['root', 'ROOT', ' root ', 'Root\t', '\u00a0root']) {
          for (const at of ['create', 'create-orphan', 'create/plain', 'create/all', 'create/root']) {
            for (const policies of [[variant], `default,${variant}`]) {
              const answer = await create({ policies }, token, at);
              expect([at, variant, answer.status, answer.auth]).toEqual([at, variant, 400, null]);
            }
          }
        }
        expect((await create({}, token, 'create/root')).status).toBe(400);
      }
    });

    test('what only the entity of the caller has is no policy to give on, and stays behind when an orphan is made', async () => {
      await role('plain', {});
      const { entity_id: id, client_token: maker } = (await login()).auth!;
      await call(`identity/entity/id/${id}`, { policies: ['extra'] });
      for (const at of ['create', 'create/plain', 'create-orphan'])
        expect(await policiesOf({ policies: ['extra'] }, maker, at)).toEqual([BEYOND]);
      expect(await look(await made({ policies: ['team'] }, maker))).toMatchObject({ entity_id: id, identity_policies: ['extra'] });
      expect(await look(await made({ policies: ['team'] }, maker, 'create-orphan'))).toMatchObject({ entity_id: '' });
    });

    test('a login gives no root, and neither entity nor group do', async () => {
      for (const policies of [['root'], ['ROOT'], [' Root ']]) {
        door.grant.policies = policies;
        expect((await login()).errors).toEqual(['auth methods cannot create root tokens']);
        expect((await call('identity/entity', { policies })).errors).toEqual(['policies cannot contain root']);
        expect((await call('identity/group', { policies })).errors).toEqual(['policies cannot contain root']);
      }
    });

    test('an alias is given only by a role that allows it', async () => {
      await role('plain', {});
      await role('aliased', { allowed_entity_aliases: ['svc-*'] });
      const maker = await made({ policies: ['team'] });
      const ask = async (at: string, entity_alias: string): Promise<unknown> => (await create({ entity_alias }, maker, at)).errors;
      expect(await ask('create', 'svc-a')).toEqual(["'entity_alias' is only allowed in combination with token role"]);
      expect(await ask('create/plain', 'svc-a')).toEqual(["invalid 'entity_alias' value"]);
      expect(await ask('create/aliased', 'ann')).toEqual(["invalid 'entity_alias' value"]);
      expect(await ask('create/aliased', 'SVC-a')).toBeUndefined();
    });
  });

  describe('of addresses', () => {
    const bound = async (cidrs: string, policies = ['team']): Promise<string> => {
      await role('bound', { token_bound_cidrs: cidrs, allowed_policies: policies });
      return made({ policies }, 'root', 'create/bound');
    };

    test('what a bound token makes is bound as it is, child or orphan, batch or not, with sudo too', async () => {
      await role('orphans', { orphan: true });
      const maker = await bound('10.0.0.0/8, fd00::/8', ['chief']);
      const orders: [string, Record<string, unknown>][] = [
        ['create', {}],
        ['create', { no_parent: true }],
        ['create', { period: '1h' }],
        ['create', { type: 'batch' }],
        ['create', { id: 'chosen' }],
        ['create-orphan', {}],
        ['create-orphan', { type: 'batch' }],
        ['create/orphans', {}],
      ];
      for (const [at, order] of orders) {
        const token = await made(order, maker, at);
        expect([at, order, (await look(token))['bound_cidrs']]).toEqual([at, order, ['10.0.0.0/8', 'fd00::/8']]);
        expect(await worksFrom(token, '10.9.9.9', 'fd00::1', '192.168.0.1', '')).toEqual([true, true, false, false]);
        if (order['type'] === 'batch') continue;
        const grandchild = await made({}, token);
        expect(await worksFrom(grandchild, '10.9.9.9', '192.168.0.1')).toEqual([true, false]);
      }
    });

    test('a caller narrows them, and does not reach beyond them', async () => {
      const maker = await bound('10.0.0.0/8');
      const token = await made({ bound_cidrs: '10.0.0.0/24, ::ffff:10.1.2.3' }, maker);
      expect(await worksFrom(token, '10.0.0.1', '10.1.2.3', '10.1.2.4')).toEqual([true, true, false]);
      for (const bound_cidrs of ['10.0.0.0/7', '0.0.0.0/0', '::/0', '11.0.0.1', '10.0.0.1,11.0.0.1', 'fd00::/64']) {
        const refused = await create({ bound_cidrs }, maker);
        expect([refused.status, refused.errors?.[0]]).toEqual([
          400,
          expect.stringMatching(/^bound_cidrs: ".+" is not within the addresses that the new token is bound to \(10\.0\.0\.0\/8\)$/),
        ]);
      }
      for (const bound_cidrs of ['here', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/', '::::', '010.0.0.1', 'fe80::1%eth0']) {
        expect((await create({ bound_cidrs }, maker)).errors).toEqual([
          `bound_cidrs: ${JSON.stringify(bound_cidrs)} is not an address or CIDR block`,
        ]);
      }
      const free = await made({ policies: ['team'] });
      expect(await worksFrom(await made({ bound_cidrs: ['10.0.0.7'] }, free), '10.0.0.7', '10.0.0.8')).toEqual([true, false]);
    });

    test('a role gives what it shares with its caller, and nothing where they share none', async () => {
      const maker = await bound('10.0.0.0/8, 192.168.0.0/16');
      for (const [name, order] of Object.entries({ near: {}, far: { orphan: true } })) {
        await role(name, { token_bound_cidrs: '10.1.0.0/16, 192.0.0.0/8, 172.16.0.0/12', allowed_policies: 'team', ...order });
        const token = await made({}, maker, `create/${name}`);
        expect((await look(token, '10.1.0.1'))['bound_cidrs']).toEqual(['10.1.0.0/16', '192.168.0.0/16']);
      }
      await role('apart', { token_bound_cidrs: '172.16.0.0/12', allowed_policies: 'team' });
      const refused = await create({}, maker, 'create/apart');
      expect([refused.status, refused.errors]).toEqual([
        400,
        ['token_bound_cidrs: the role apart allows none of the addresses that the calling token is bound to (10.0.0.0/8, 192.168.0.0/16)'],
      ]);
    });

    test('a role binds to the address of the caller where it says so', async () => {
      await role('strict', { token_strictly_bind_ip: true, allowed_policies: 'team' });
      expect((await call('auth/token/roles/strict', {}, { operation: 'read' })).data).toMatchObject({ token_strictly_bind_ip: true });
      const token = await made({ policies: ['team'] }, 'root', 'create/strict');
      expect(await worksFrom(token, HOME, '10.0.0.8')).toEqual([true, false]);
      const nowhere = await core.handle({ operation: 'update', path: 'auth/token/create/strict', token: 'root' });
      expect(nowhere.errors).toEqual(["token_strictly_bind_ip: the role strict binds to the caller's address, which is unknown"]);
    });

    test('a wrapped child is bound as an open one; its wrapping token carries the answer alone, and is opened anywhere', async () => {
      const maker = await bound('10.0.0.0/8');
      const request = { operation: 'update', path: 'auth/token/create', token: maker, remoteAddress: HOME, wrapTtl: 60 } as const;
      const { token } = (await core.handle(request)).wrapInfo!;
      const opened = await call('sys/wrapping/unwrap', { token }, { token: '', from: '192.168.0.1' });
      expect(await worksFrom(opened.auth!.client_token, HOME, '192.168.0.1')).toEqual([true, false]);
    });
  });

  describe('of lifetimes', () => {
    test('an explicit maximum passes on to whatever the token makes, and renewals keep to it', async () => {
      await role('orphans', { orphan: true, token_period: '10h' });
      const maker = await made({ policies: ['chief'], explicit_max_ttl: '2h' });
      await clock.advance('30m');
      const orders: [string, Record<string, unknown>][] = [
        ['create', { ttl: '5h' }],
        ['create', { no_parent: true, ttl: '5h' }],
        ['create', { no_parent: true, period: '5h' }],
        ['create', { no_parent: true, explicit_max_ttl: '5h', ttl: '5h' }],
        ['create', { no_parent: true, type: 'batch', ttl: '5h' }],
        ['create-orphan', { ttl: '5h' }],
        ['create/orphans', {}],
      ];
      const tokens: string[] = [];
      for (const [at, order] of orders) {
        const { auth, warnings } = await create(order, maker, at);
        expect([at, order, auth?.lease_duration]).toEqual([at, order, 5_400]);
        expect(warnings?.at(-1)).toMatch(/^TTL of ".*" exceeded the effective max_ttl of "1h30m"; TTL value is capped accordingly$/);
        tokens.push(auth!.client_token);
      }
      expect(await look(tokens[1]!)).toMatchObject({
        max_expire_time: '2030-01-01T02:00:00.000Z',
        expire_time: '2030-01-01T02:00:00.000Z',
      });
      await clock.advance('80m');
      for (const token of tokens.slice(1)) {
        if (token.startsWith('b.')) continue;
        const renewed = await call('auth/token/renew-self', { increment: '5h' }, { token });
        expect(renewed.auth!.lease_duration).toBe(600);
      }
      const grandchild = await made({ ttl: '5h', no_parent: true }, tokens[2]);
      expect(await look(grandchild)).toMatchObject({ ttl: 600 });
      await clock.advance('10m');
      for (const token of [...tokens, grandchild]) expect(await worksFrom(token, HOME)).toEqual([false]);
    });

    test('a child that becomes an orphan keeps the explicit maximum of its maker', async () => {
      const maker = await made({ policies: ['chief'], explicit_max_ttl: '2h' });
      const child = await made({ ttl: '1h' }, maker);
      await call('auth/token/revoke-orphan', { token: maker });
      await clock.advance('30m');
      expect((await call('auth/token/renew-self', { increment: '5h' }, { token: child })).auth!.lease_duration).toBe(5_400);
    });

    test('without sudo an orphan ends when its maker would at the latest; with it, it need not', async () => {
      door.grant.terms = { maxTtl: 28_800 };
      const maker = (await login()).auth!.client_token;
      await clock.advance('1h');
      const orphan = await create({ ttl: '100h' }, maker, 'create-orphan');
      expect(orphan.auth!.lease_duration).toBe(25_200);
      const further = await create({ ttl: '100h' }, orphan.auth!.client_token, 'create-orphan');
      expect(further.auth!.lease_duration).toBe(25_200);
      await clock.advance('2h');
      expect((await call('auth/token/renew-self', { increment: '100h' }, { token: orphan.auth!.client_token })).auth!.lease_duration).toBe(
        18_000,
      );
      door.grant.policies = ['chief'];
      const chief = (await login()).auth!.client_token;
      expect((await create({ ttl: '100h' }, chief, 'create-orphan')).auth!.lease_duration).toBe(360_000);
      await role('orphans', { orphan: true });
      expect((await create({ ttl: '100h' }, maker, 'create/orphans')).auth!.lease_duration).toBe(360_000);
    });

    test('a token that cannot be renewed makes no orphan that outlives it', async () => {
      const maker = await made({ policies: ['team'], ttl: '1h', renewable: false });
      expect((await create({ ttl: '2h' }, maker, 'create-orphan')).auth!.lease_duration).toBe(3_600);
    });

    test('a root token with an end makes no root token that outlives it', async () => {
      const maker = await made({ ttl: '1h', renewable: false });
      for (const order of [{ ttl: '9h' }, { ttl: '9h', period: '9h' }]) {
        expect((await create({ ...order, no_parent: true }, maker)).auth!.lease_duration).toBe(3_600);
      }
      expect((await create({ no_parent: true }, maker)).errors).toEqual(['expiring root tokens cannot create non-expiring root tokens']);
    });
  });

  describe('of uses', () => {
    test('a token of few uses makes nothing, by whatever path', async () => {
      await role('plain', {});
      for (const at of ['create', 'create-orphan', 'create/plain']) {
        for (const order of [{}, { num_uses: 1 }, { type: 'batch' }]) {
          const maker = await made({ policies: ['chief'], num_uses: 1 });
          expect((await create(order, maker, at)).errors).toEqual(['restricted use token cannot generate child tokens']);
        }
      }
    });

    test('a role with a number of uses is not asked for more', async () => {
      await role('few', { token_num_uses: 3 });
      const maker = await made({ policies: ['team'] });
      for (const [asked, given] of [
        [undefined, 3],
        [0, 3],
        [9, 3],
        [2, 2],
      ] as const) {
        expect((await create(asked === undefined ? {} : { num_uses: asked }, maker, 'create/few')).auth!.num_uses).toBe(given);
      }
      expect((await create({ type: 'batch' }, maker, 'create/few')).errors).toEqual(['batch tokens cannot have "num_uses" set']);
    });

    test('a login whose tokens have few uses makes no batch tokens, which would have any number', async () => {
      door.grant.terms = { numUses: 2 };
      await call('sys/auth/gate/tune', { token_type: 'batch' });
      expect((await login()).errors).toEqual([
        'batch tokens cannot have "num_uses" set: set token_num_uses to 0, or token_type to service',
      ]);
    });
  });
});
