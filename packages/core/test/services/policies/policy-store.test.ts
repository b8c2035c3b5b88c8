import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotFound } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import { DEFAULT_POLICY } from '../../../src/services/policies/builtin-policies.ts';
import { PolicyStore } from '../../../src/services/policies/policy-store.ts';
import { bob, manualClock, type ManualClock } from './fixture.ts';

const read = 'path "a" { capabilities = ["read"] }';
const list = 'path "a" { capabilities = ["list"] }';
const home = 'path "home/{{identity.entity.name}}" { capabilities = ["read"] }';

let view: MemoryView;
let clock: ManualClock;
let store: PolicyStore;

beforeEach(() => {
  view = new MemoryView();
  clock = manualClock();
  store = new PolicyStore({ storage: view, clock });
});

const capabilities = async (...names: string[]) => (await store.aclFor(names)).capabilities('a');

describe('the stored policies', () => {
  test('a write is read back with its version and time, under the lower-case name', async () => {
    await store.put('Dev', { policy: read });
    clock.advance(5);
    await store.put('dev', { policy: list });
    expect(await store.get('DEV')).toEqual({
      policy: list,
      version: 2,
      cas_required: false,
      allow_wildcards_in_identity_templates: false,
      allow_slashes_in_identity_templates: false,
      modified: '2030-01-01T00:00:05.000Z',
    });
    expect(await store.list()).toEqual(['dev']);
  });

  test('a name that begins or ends with white space is refused, as no token can have such a policy', async () => {
    for (const name of [' dev', 'dev ', '\tdev']) {
      await expect(store.put(name, { policy: read })).rejects.toThrow(
        'white space, which logins and tokens remove: they would get the policy "dev"',
      );
    }
    expect(await store.list()).toEqual([]);
  });

  test('base64 is stored decoded', async () => {
    await store.put('dev', { policy: Buffer.from(read).toString('base64') });
    expect((await store.get('dev'))?.policy).toBe(read);
  });

  test('the default policy is there from the start, may be edited, and stays as edited', async () => {
    await store.initialize();
    expect((await store.get('default'))?.policy).toContain('auth/token/lookup-self');
    await store.put('default', { policy: read });
    await store.initialize();
    expect((await store.get('default'))?.policy).toBe(read);
    await expect(store.delete('default')).rejects.toThrow('cannot delete default policy');
  });

  test('a default policy that nobody has edited is brought up to date, with its settings', async () => {
    const former = readFileSync(new URL('./default-0.1.0.hcl', import.meta.url), 'utf8');
    await store.put('default', { policy: former, casRequired: true, cas: -1 });
    await store.initialize();
    expect(await store.get('default')).toMatchObject({ policy: DEFAULT_POLICY, version: 2, cas_required: true });
    await store.initialize();
    expect(await store.get('default')).toMatchObject({ version: 2 });
    const edited = `${former}# ours\n`;
    await store.put('default', { policy: edited, cas: 2 });
    await store.initialize();
    expect(await store.get('default')).toMatchObject({ policy: edited, version: 3 });
  });

  test('root and the policies of the core exist and cannot be written', async () => {
    expect(await store.get('root')).toMatchObject({ policy: '' });
    expect(await store.policyExists('response-wrapping')).toBe(true);
    expect(await store.list()).toEqual([]);
    for (const name of ['root', 'response-wrapping', 'control-group']) {
      await expect(store.put(name, { policy: read })).rejects.toThrow(`cannot update "${name}" policy`);
      await expect(store.patch(name, { policy: read })).rejects.toThrow(`cannot update "${name}" policy`);
      await expect(store.delete(name)).rejects.toThrow(`cannot delete "${name}" policy`);
    }
  });

  test('a policy that cannot be read is not stored', async () => {
    await expect(store.put('dev', { policy: 'path "x" { capabilities=["fly"] }' })).rejects.toThrow('invalid capability "fly"');
    await expect(store.put('dev', {})).rejects.toThrow(`'policy' parameter not supplied or empty`);
    expect(await store.policyExists('dev')).toBe(false);
  });

  test('deleting is final and may be repeated', async () => {
    await store.put('dev', { policy: read });
    await store.delete('DEV');
    await store.delete('dev');
    expect(await store.get('dev')).toBeUndefined();
  });

  test('a patch changes what it names', async () => {
    await expect(store.patch('dev', { policy: read })).rejects.toThrow(NotFound);
    await store.put('dev', { policy: read, casRequired: true, cas: -1, ttl: 60 });
    await store.patch('dev', { cas: 1, allowSlashes: true });
    expect(await store.get('dev')).toMatchObject({
      policy: read,
      version: 2,
      cas_required: true,
      allow_slashes_in_identity_templates: true,
      expiration: '2030-01-01T00:01:00.000Z',
    });
    await expect(store.patch('dev', { cas: 2, policy: '' })).rejects.toThrow('not supplied or empty');
  });
});

describe('check-and-set', () => {
  test('the version must be the stored one, and none must exist for -1', async () => {
    await expect(store.put('dev', { policy: read, cas: 1 })).rejects.toThrow('did not match the current version');
    await store.put('dev', { policy: read, cas: -1 });
    await expect(store.put('dev', { policy: read, cas: -1 })).rejects.toThrow('set to -1 on existing entry');
    await expect(store.put('dev', { policy: read, cas: 0 })).rejects.toThrow('did not match the current version');
    await store.put('dev', { policy: list, cas: 1 });
    expect((await store.get('dev'))?.version).toBe(2);
  });

  test('may be required of every write', async () => {
    await expect(store.put('dev', { policy: read, casRequired: true })).rejects.toThrow('check-and-set parameter required for this call');
    await store.put('dev', { policy: read, casRequired: true, cas: 0 });
    await expect(store.put('dev', { policy: read })).rejects.toThrow('check-and-set parameter required for this call');
    await store.put('dev', { policy: read, cas: 1 });
    await store.put('dev', { policy: read });
  });

  test('of writers at once, one wins', async () => {
    await store.put('dev', { policy: read });
    const writers = await Promise.allSettled([1, 2, 3, 4].map(() => store.put('dev', { policy: list, cas: 1 })));
    expect(writers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await store.get('dev'))?.version).toBe(2);
  });
});

describe('what a set of policies allows', () => {
  test('follows every write and delete', async () => {
    await store.put('one', { policy: read });
    expect(await capabilities('one', 'two')).toEqual(['read']);
    await store.put('two', { policy: list });
    expect(await capabilities('one', 'two')).toEqual(['list', 'read']);
    await store.put('one', { policy: 'path "a" { capabilities = ["deny"] }' });
    expect(await capabilities('one', 'two')).toEqual(['deny']);
    await store.delete('one');
    expect(await capabilities('one', 'two')).toEqual(['list']);
    await store.put('TWO', { policy: read });
    expect(await capabilities('two')).toEqual(['read']);
  });

  test('is compiled once, until one of its policies changes', async () => {
    await store.put('one', { policy: read });
    const acl = await store.aclFor(['one', 'none']);
    const reads = view.reads;
    expect(await store.aclFor(['one', 'none'])).toBe(acl);
    await store.put('other', { policy: read });
    expect(await store.aclFor(['one', 'none'])).toBe(acl);
    expect(view.reads).toBe(reads);
  });

  test('follows the writes of other processes once it is notified', async () => {
    const other = new PolicyStore({ storage: view, clock });
    await store.put('one', { policy: read });
    expect(await capabilities('one')).toEqual(['read']);
    await other.put('one', { policy: list });
    store.invalidate('acl/one');
    expect(await capabilities('one')).toEqual(['list']);
    await other.delete('one');
    store.invalidate('acl/one');
    expect(await capabilities('one')).toEqual(['deny']);
  });

  test('what was read before a change is not kept after it', async () => {
    await store.put('one', { policy: read });
    const early = store.aclFor(['one']);
    await store.put('one', { policy: list });
    await early;
    expect(await capabilities('one')).toEqual(['list']);
  });

  test('root is everything, and the wrapping policy opens its cubbyhole', async () => {
    expect((await store.aclFor(['root'])).root).toBe(true);
    const wrapping = await store.aclFor(['response-wrapping']);
    expect(wrapping.capabilities('cubbyhole/response')).toEqual(['create', 'read']);
    expect(wrapping.capabilities('sys/wrapping/unwrap')).toEqual(['update']);
  });

  test('a policy ends at its time, for reads, lists and calls', async () => {
    await store.put('one', { policy: read, ttl: 10 });
    await store.put('two', { policy: read, expiration: new Date(clock.millis() + 20_000) });
    expect(await capabilities('one')).toEqual(['read']);
    clock.advance(10);
    expect(await capabilities('one')).toEqual(['deny']);
    expect(await store.get('one')).toBeUndefined();
    expect(await store.list()).toEqual(['two']);
    await store.removeExpired();
    expect([...view.store.records.keys()]).toEqual(['acl/two']);
    await store.put('one', { policy: list });
    expect(await capabilities('one')).toEqual(['list']);
    expect((await store.get('one'))?.version).toBe(1);
  });

  test('a block ends at its time', async () => {
    await store.put('one', { policy: 'path "a" { capabilities = ["read"]\n expiration = "2030-01-01T00:00:10Z" }' });
    expect(await capabilities('one')).toEqual(['read']);
    clock.advance(10);
    expect(await capabilities('one')).toEqual(['deny']);
  });

  test('an end in the past, or two of them, are refused', async () => {
    await expect(store.put('one', { policy: read, expiration: clock.now() })).rejects.toThrow('must be in the future');
    await expect(store.put('one', { policy: read, ttl: 1, expiration: new Date(clock.millis() + 1000) })).rejects.toThrow('only one of');
  });

  test('a stored text that no longer can be read refuses its tokens rather than being passed over', async () => {
    await store.put('one', { policy: read });
    const stored = view.store.records.get('acl/one')!;
    view.store.records.set('acl/one', { ...stored, json: stored.json.replace('read', 'fly') });
    await expect(store.aclFor(['one'])).rejects.toMatchObject({ status: 500, message: 'the stored policy "one" cannot be read' });
  });

  test('no more sets are kept than asked for', async () => {
    const small = new PolicyStore({ storage: view, clock, cachedSets: 4 });
    await small.put('one', { policy: read });
    const used = await small.aclFor(['one', 'x0']);
    for (let i = 1; i < 10; i++) {
      await small.aclFor(['one', `x${i}`]);
      expect(await small.aclFor(['one', 'x0'])).toBe(used);
    }
    const first = await small.aclFor(['one', 'x1']);
    for (let i = 20; i < 30; i++) await small.aclFor(['one', `x${i}`]);
    expect(await small.aclFor(['one', 'x1'])).not.toBe(first);
  });
});

describe('policies that depend on the caller', () => {
  const identity = (name: string, context: () => Promise<typeof bob | undefined>) => ({ key: name, load: context });

  test('are filled in for each caller, and again when something about them changes', async () => {
    await store.put('home', { policy: home });
    let current: typeof bob | undefined = bob;
    const asBob = identity('e-1', () => Promise.resolve(current));
    const acl = await store.aclFor(['home'], asBob);
    expect(acl.capabilities('home/bob')).toEqual(['read']);
    expect(await store.aclFor(['home'], asBob)).toBe(acl);
    expect((await store.aclFor(['home'])).capabilities('home/bob')).toEqual(['deny']);

    current = { ...bob, entity: { ...bob.entity!, name: 'robert' } };
    const renamed = await store.aclFor(['home'], asBob);
    expect([renamed.capabilities('home/bob'), renamed.capabilities('home/robert')]).toEqual([['deny'], ['read']]);
    current = undefined;
    expect((await store.aclFor(['home'], asBob)).capabilities('home/robert')).toEqual(['deny']);
  });

  test('one caller never gets what was filled in for another', async () => {
    await store.put('home', { policy: home });
    const eve = { ...bob, entity: { ...bob.entity!, id: 'e-2', name: 'eve' } };
    await store.aclFor(
      ['home'],
      identity('e-1', () => Promise.resolve(bob)),
    );
    const acl = await store.aclFor(
      ['home'],
      identity('e-2', () => Promise.resolve(eve)),
    );
    expect([acl.capabilities('home/bob'), acl.capabilities('home/eve')]).toEqual([['deny'], ['read']]);
  });

  test('a set that does not depend on the caller asks nothing about them and is shared', async () => {
    await store.put('one', { policy: read });
    const never = identity('e-1', () => Promise.reject(new Error('asked')));
    expect(await store.aclFor(['one'], never)).toBe(await store.aclFor(['one']));
  });

  test('a set becomes dependent, and independent, with its policies', async () => {
    await store.put('one', { policy: read });
    const asBob = identity('e-1', () => Promise.resolve(bob));
    await store.aclFor(['one'], asBob);
    await store.put('one', { policy: home });
    expect((await store.aclFor(['one'], asBob)).capabilities('home/bob')).toEqual(['read']);
    expect((await store.aclFor(['one'])).capabilities('home/bob')).toEqual(['deny']);
    await store.put('one', { policy: read });
    expect((await store.aclFor(['one'], asBob)).capabilities('a')).toEqual(['read']);
  });
});
