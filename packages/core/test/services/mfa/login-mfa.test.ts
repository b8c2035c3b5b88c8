import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { mfaWorld, type MfaWorld } from './mfa-world.ts';

const WRONG = '000000';

describe('a login that needs a second factor', () => {
  let storage: StorageDriver;
  let world: MfaWorld;
  let method: string;
  let ann: string;
  let code: (off?: number) => string;

  beforeEach(async () => {
    storage = memoryStorage();
    world = await mfaWorld({ storage });
    method = await world.method({ method_name: 'phone' });
    ann = await world.entityOf('ann');
    code = await world.authenticator(method, ann);
    await world.write('identity/mfa/login-enforcement/all', { mfa_method_ids: [method], auth_method_accessors: [world.accessor] });
  });
  afterEach(async () => world.close());

  const tokens = async (): Promise<number> => ((await world.call('list', 'auth/token/accessors')).data as { keys: string[] }).keys.length;

  test('has no token before the code, and one after it', async () => {
    const before = await tokens();
    const { requestId, token, answer } = await world.login();
    expect(token).toBeUndefined();
    expect(answer).toMatchObject({
      status: 200,
      auth: null,
      pendingAuth: {
        client_token: '',
        policies: null,
        mfa_requirement: { mfa_constraints: { all: { any: [{ type: 'totp', id: method, uses_passcode: true, name: 'phone' }] } } },
      },
    });
    expect(await tokens()).toBe(before);
    const done = await world.validate(requestId!, { [method]: [code()] });
    expect(done.answer.auth).toMatchObject({ entity_id: ann, token_type: 'service', mfa_requirement: null, policies: ['default', 'team'] });
    const self = await world.call('read', 'auth/token/lookup-self', { token: done.token! });
    expect(self.data).toMatchObject({ path: 'auth/gate/login', display_name: 'gate-ann', entity_id: ann });
  });

  test('keeps to a cap on leases in the second step, and can be completed once there is room', async () => {
    const first = await world.login();
    const done = await world.validate(first.requestId!, { [method]: [code()] });
    const { requestId } = await world.login();
    await world.write('sys/quotas/lease-count/gate', { path: 'auth/gate', max_leases: 1 });
    expect((await world.validate(requestId!, { [method]: [code(1)] })).refused).toContain(
      '429 lease count quota exceeded: the quota "gate"',
    );
    await world.call('update', 'auth/token/revoke', { data: { token: done.token! } });
    await world.clock.advance('2s');
    const again = await world.validate(requestId!, { [method]: [code(1)] });
    expect(again.answer.warnings).toEqual(['lease count quota "gate": 1 of 1 leases are in use']);
  });

  test('takes the name of the method for its id, and a code with a prefix', async () => {
    const { requestId } = await world.login();
    expect((await world.validate(requestId!, { phone: [`passcode=${code()}`] })).token).toBeDefined();
  });

  test('can be done once, with a code that can be used once', async () => {
    const { requestId } = await world.login();
    const used = code();
    expect((await world.validate(requestId!, { [method]: [used] })).token).toBeDefined();
    expect((await world.validate(requestId!, { [method]: [code(1)] })).refused).toBe('400 invalid request ID');
    const again = await world.login();
    expect((await world.validate(again.requestId!, { [method]: [used] })).refused).toContain(
      'code already used; a new code is available in ',
    );
    expect((await world.validate(again.requestId!, { [method]: [code(1)] })).token).toBeDefined();
  });

  test('is not hurt by the code of another, though it is the same', async () => {
    const bob = await world.entityOf('bob');
    const theirs = await world.authenticator(method, bob);
    await world.write('identity/mfa/method/totp/admin-destroy', { method_id: method, entity_id: ann });
    code = await world.authenticator(method, ann);
    for (const [user, current] of [
      ['ann', code],
      ['bob', theirs],
    ] as const) {
      world.grant.user = user;
      const { requestId } = await world.login();
      expect((await world.validate(requestId!, { [method]: [current()] })).token).toBeDefined();
    }
  });

  test('takes the codes of one period before and after, and no others', async () => {
    const { requestId } = await world.login();
    for (const off of [-2, 2]) expect((await world.validate(requestId!, { [method]: [code(off)] })).refused).toContain('incorrect');
    for (const off of [-1, 1]) {
      const login = await world.login();
      expect((await world.validate(login.requestId!, { [method]: [code(off)] })).token).toBeDefined();
    }
  });

  test('waits for five minutes, and is then forgotten by the store', async () => {
    const { requestId } = await world.login();
    const second = await world.login();
    const stored = async (): Promise<number> => (await storage.range({ prefix: 'core/mfa/login/' })).length;
    expect(await stored()).toBe(2);
    await world.advance('4m59s');
    expect((await world.validate(requestId!, { [method]: [code()] })).token).toBeDefined();
    await world.advance('1s');
    expect((await world.validate(second.requestId!, { [method]: [code()] })).refused).toBe('400 invalid request ID');
    expect(await stored()).toBe(0);
  });

  test('in one step: with the header there is a token at once, or nothing', async () => {
    expect((await world.login({ header: `${method}:${WRONG}` })).refused).toBe('403 permission denied');
    expect((await world.login({ header: method })).refused).toBe('403 permission denied');
    expect((await world.login({ header: `:${code()}` })).refused).toBe('403 permission denied');
    expect((await world.login({ header: `other:${code()}` })).refused).toBe('403 permission denied');
    expect((await world.login({ header: `${method}:${code()},${method}:${code(1)}` })).refused).toBe('403 permission denied');
    const used = code();
    expect((await world.login({ header: `${method}:${used}` })).token).toBeDefined();
    expect((await world.login({ header: `${method}:${used}` })).refused).toBe('403 permission denied');
    expect((await world.login({ header: `phone:passcode=${code(1)}` })).token).toBeDefined();
    expect((await world.login({ header: '' })).requestId).toBeDefined();
    expect((await world.login({ header: ' , ' })).requestId).toBeDefined();
  });

  test('must meet every enforcement, each by any of its methods; one code may meet several', async () => {
    const key = await world.method({ method_name: 'key', digits: 8, algorithm: 'SHA512' });
    const other = await world.method({ method_name: 'other' });
    const keyCode = await world.authenticator(key, ann);
    await world.write('identity/mfa/login-enforcement/also', { mfa_method_ids: [key, other], auth_method_types: ['gate'] });
    await world.write('identity/mfa/login-enforcement/again', { mfa_method_ids: [method], identity_entity_ids: [ann] });
    const { requestId, answer } = await world.login();
    expect(Object.keys(answer.pendingAuth!.mfa_requirement.mfa_constraints)).toEqual(['again', 'all', 'also']);
    expect((await world.validate(requestId!, { [method]: [code()] })).refused).toContain('failed to satisfy enforcement also');
    expect((await world.validate(requestId!, { [key]: [keyCode()] })).refused).toContain('failed to satisfy enforcement again');
    // What was right in a proof that failed is not used up.
    expect((await world.validate(requestId!, { [method]: [code()], key: [keyCode()] })).token).toBeDefined();
    expect((await world.login({ header: [`${method}:${code(1)}`, `key:${keyCode(1)}`] })).token).toBeDefined();
    expect((await world.login({ header: `${method}:${code(-1)}, key:${keyCode(-1)}` })).token).toBeDefined();
  });

  test('is required of members of a group, also by other groups, and at the first login of somebody new', async () => {
    await world.call('delete', 'identity/mfa/login-enforcement/all');
    expect((await world.login()).token).toBeDefined();
    const inner = (await world.write('identity/group', { name: 'inner', member_entity_ids: [ann] }))['id'];
    const outer = (await world.write('identity/group', { name: 'outer', member_group_ids: [inner] }))['id'];
    await world.write('identity/mfa/login-enforcement/group', { mfa_method_ids: [method], identity_group_ids: [outer] });
    expect((await world.login()).requestId).toBeDefined();
    world.grant.user = 'somebody new';
    expect((await world.login()).token).toBeDefined();
    await world.write('identity/mfa/login-enforcement/type', { mfa_method_ids: [method], auth_method_types: ['gate'] });
    world.grant.user = 'somebody newer';
    const { requestId } = await world.login();
    expect((await world.validate(requestId!, { [method]: [WRONG] })).refused).toContain('not present in entity');
  });

  test('decides again in the second step: an enforcement that came meanwhile counts, one that went does not', async () => {
    const { requestId } = await world.login();
    const key = await world.method();
    await world.write('identity/mfa/login-enforcement/late', { mfa_method_ids: [key], auth_method_types: ['gate'] });
    expect((await world.validate(requestId!, { [method]: [code()] })).refused).toContain('enforcement late');
    await world.call('delete', 'identity/mfa/login-enforcement/late');
    await world.call('delete', 'identity/mfa/login-enforcement/all');
    expect((await world.validate(requestId!, {})).token).toBeDefined();
  });

  test('ends with its entity, its mount, and outside its addresses', async () => {
    world.grant.terms = { boundCidrs: ['127.0.0.1/32'] };
    const { requestId } = await world.login();
    expect((await world.validate(requestId!, { [method]: [code()] }, { remoteAddress: '10.0.0.1' })).refused).toBe('403 permission denied');
    await world.write(`identity/entity/id/${ann}`, { disabled: true });
    expect((await world.validate(requestId!, { [method]: [code()] })).refused).toBe('403 permission denied');
    await world.write(`identity/entity/id/${ann}`, { disabled: false });
    await world.call('delete', `identity/entity/id/${ann}`);
    expect((await world.validate(requestId!, { [method]: [code()] })).refused).toBe('403 permission denied');
    await world.call('delete', 'sys/auth/gate');
    expect((await world.validate(requestId!, { [method]: [code()] })).refused).toBe('400 invalid request ID');
  });

  test('makes the token that the login asked for: batch, few uses, terms, metadata', async () => {
    world.grant.terms = { type: 'batch', ttl: 600 };
    const batch = await world.login();
    const { answer, token } = await world.validate(batch.requestId!, { [method]: [code()] });
    expect(token).toMatch(/^b\./);
    expect(answer.auth).toMatchObject({ token_type: 'batch', accessor: '', lease_duration: 600, renewable: false });
    world.grant.terms = { numUses: 2, ttl: 300, explicitMaxTtl: 400, noDefaultPolicy: true };
    const few = await world.login();
    const made = await world.validate(few.requestId!, { [method]: [code(1)] });
    expect(made.answer.auth).toMatchObject({ num_uses: 2, lease_duration: 300, policies: ['team'] });
    // The life of the token begins with the second step.
    world.grant.terms = {};
    const slow = await world.login();
    await world.advance('2m');
    const late = await world.validate(slow.requestId!, { [method]: [code()] });
    const self = await world.call('read', 'auth/token/lookup-self', { token: late.token! });
    expect(self.data).toMatchObject({ creation_time: Math.floor(world.clock.millis() / 1_000) });
  });

  test('is answered as it is where it asks for wrapping, and the second step is wrapped when that asks', async () => {
    const { requestId, answer } = await world.login({ wrapTtl: 60 });
    expect(answer.wrapInfo).toBeNull();
    const done = await world.validate(requestId!, { [method]: [code()] }, { wrapTtl: 60 });
    expect(done.answer).toMatchObject({ auth: null, wrapInfo: { ttl: 60, creation_path: 'sys/mfa/validate' } });
    const inside = await world.call('update', 'sys/wrapping/unwrap', { token: done.answer.wrapInfo!.token });
    expect(inside.auth).toMatchObject({ entity_id: ann });
  });

  test('uses up what it was made with in the first step, and with the header only together with the code', async () => {
    let used = 0;
    world.grant.consume = async (tx) => {
      used += 1;
      await tx.collection('x/', (await import('typebox')).Type.Object({})).put('x', {});
    };
    expect((await world.login({ header: `${method}:${WRONG}` })).refused).toBeDefined();
    expect(used).toBe(0);
    const { requestId } = await world.login();
    expect(used).toBe(1);
    await world.validate(requestId!, { [method]: [code()] });
    expect(used).toBe(1);
    expect((await world.login({ header: `${method}:${code(1)}` })).token).toBeDefined();
    expect(used).toBe(2);
  });

  test.each([
    [{}, '400 missing request ID'],
    [{ mfa_request_id: 'x', mfa_payload: { m: 'text' } }, '400 invalid mfa payload'],
    [{ mfa_request_id: 'x', mfa_payload: { m: [1] } }, '400 invalid mfa payload'],
    [{ mfa_request_id: 'x', mfa_payload: { m: [['1']] } }, '400 invalid mfa payload'],
    [{ mfa_request_id: 'x', mfa_payload: { __proto__: null, constructor: ['1'] } }, '400 invalid request ID'],
    [{ mfa_request_id: '../x' }, '400 invalid request ID'],
  ])('refuses the second step %j', async (data, refused) => {
    const { status, errors } = await world.call('update', 'sys/mfa/validate', { token: '', data });
    expect(`${status} ${errors!.join()}`).toBe(refused);
  });

  test('an entity that is merged away between the steps goes on as the other one, with its secret', async () => {
    const target = (await world.write('identity/entity', { name: 'target', policies: 'theirs' }))['id'] as string;
    const { requestId } = await world.login();
    await world.write('identity/entity/merge', { from_entity_ids: [ann], to_entity_id: target });
    const { answer } = await world.validate(requestId!, { [method]: [code()] });
    expect(answer.auth).toMatchObject({ entity_id: target, identity_policies: ['theirs'] });
  });
});

describe('wrong codes', () => {
  let world: MfaWorld;
  let method: string;
  let code: (off?: number) => string;

  beforeEach(async () => {
    world = await mfaWorld();
    method = await world.method({ max_validation_attempts: 2 });
    code = await world.authenticator(method, await world.entityOf('ann'));
    await world.write('identity/mfa/login-enforcement/all', { mfa_method_ids: [method], auth_method_types: ['gate'] });
  });
  afterEach(async () => world.close());

  const attempt = async (supplied: string): Promise<string> => {
    const { requestId } = await world.login();
    return (await world.validate(requestId!, { [method]: [supplied] })).refused ?? 'in';
  };
  const paused = (seconds: number): string =>
    `maximum TOTP validation attempts 3 exceeded the allowed attempts 2. Please try again in ${seconds} seconds`;

  test('lead to a pause of one period, in which a right one is refused too', async () => {
    expect(await attempt(WRONG)).toContain('incorrect');
    expect(await attempt(WRONG)).toContain('incorrect');
    expect(await attempt(code())).toContain(paused(30));
    expect((await world.login({ header: `${method}:${code()}` })).refused).toBe('403 permission denied');
    await world.advance('29s');
    expect(await attempt(code())).toContain(paused(1));
    await world.advance('1s');
    expect(await attempt(code())).toBe('in');
  });

  test('lead to pauses that double, up to an hour, until a right one or a day ends the count', async () => {
    for (const seconds of [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
      await attempt(WRONG);
      await attempt(WRONG);
      expect(await attempt(code())).toContain(paused(seconds));
      await world.advance(seconds);
    }
    await attempt(WRONG);
    expect(await attempt(code())).toBe('in');
    await attempt(WRONG);
    await attempt(WRONG);
    expect(await attempt(code(1))).toContain(paused(30));
    await world.advance('24h1s');
    await attempt(WRONG);
    await attempt(WRONG);
    expect(await attempt(code())).toContain(paused(30));
  });

  test('that are no guess do not count: none, several, and one that was used', async () => {
    const used = code();
    expect(await attempt(used)).toBe('in');
    const { requestId } = await world.login();
    for (const codes of [[], [''], [WRONG, '111111'], [used], [used]]) {
      expect((await world.validate(requestId!, { [method]: codes })).refused).toContain('403');
    }
    expect(await attempt(code(1))).toBe('in');
  });

  test('count whatever comes with them, and a right one beside them is not used up', async () => {
    const other = await world.method();
    await world.write('identity/mfa/login-enforcement/all', { mfa_method_ids: [other, method] });
    const { requestId } = await world.login();
    const ann = await world.entityOf('ann');
    const second = await world.authenticator(other, ann);
    await world.validate(requestId!, { [method]: [WRONG], [other]: [WRONG] });
    await world.validate(requestId!, { [method]: [WRONG], [other]: [WRONG] });
    expect((await world.validate(requestId!, { [method]: [code()] })).refused).toContain(paused(30));
    expect((await world.validate(requestId!, { [other]: [second()], [method]: [code()] })).token).toBeDefined();
  });

  test('100 at once count as what they are: two are compared, the others wait', async () => {
    const { requestId } = await world.login();
    const refusals = await Promise.all(
      Array.from({ length: 100 }, async () => (await world.validate(requestId!, { [method]: [WRONG] })).refused!),
    );
    expect(refusals.filter((text) => text.includes('not supplied or incorrect'))).toHaveLength(2);
    expect(refusals.filter((text) => text.includes(paused(30)))).toHaveLength(98);
  });
});
