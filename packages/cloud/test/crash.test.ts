import { CreatePolicyCommand, CreateUserCommand } from '@aws-sdk/client-iam';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { manualClock, killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { awsEngine } from '../src/index.ts';
import { besideIn, type Beside, rootConfig, S3, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(120_000);

/** Where a process dies: at a commit of the store that is not made, or at a call of the provider, before it or before its answer is there. */
type Death = readonly [where: 'commit' | 'before call' | 'after call', count: number, dies: boolean];

/** One for each commit and call that an operation makes; the last of each kind comes too late. */
function deaths(commits: number, calls: number): Death[] {
  const each = (where: Death[0], most: number): Death[] => Array.from({ length: most + 1 }, (_, n) => [where, n, n < most]);
  return [...each('commit', commits), ...each('before call', calls), ...each('after call', calls)];
}

/** Commits of a planned rotation. */
const PLANNED = 7;

const S3_POLICY = 'arn:aws:iam::123456789012:policy/s3';

describeWithAws('a server that dies in the middle', (aws) => {
  let beside: Beside;
  let server: KillableMount;

  beforeEach(async () => {
    await aws.beside.iam.send(new CreatePolicyCommand({ PolicyName: 's3', PolicyDocument: S3 }));
    beside = await aws.enforce('svc');
    server = await killableMount(awsEngine, { clock: manualClock(new Date()) });
    // The dead do not try again.
    await done('update', 'aws/config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    await done('update', 'aws/config/lease', { lease: '1h', lease_max: '2h' });
    const user = { credential_type: 'iam_user', policy_arns: S3_POLICY, policy_document: S3, iam_groups: 'devs', iam_tags: 'team=core' };
    await done('update', 'aws/roles/user', user);
    await done('update', 'aws/static-roles/st', { username: 'static1', rotation_period: '24h' });
  });

  const done = async (...call: Parameters<KillableMount['ask']>): Promise<void> => {
    const { status, errors } = await server.ask(...call);
    expect({ errors, failed: status >= 400 }).toEqual({ failed: false });
  };

  /** Carries out the work until it is through or its process has died, and starts the next process. Resolves with whether it died. */
  const dieIn = async ([where, count, dies]: Death, work: () => Promise<unknown>): Promise<boolean> => {
    let left = count;
    const dead = new Promise<true>((resolve) => {
      if (where === 'commit') {
        server.storage.dieAfter(count);
        void server.storage.noticed.then(() => resolve(true));
      }
      aws.front.watch((_call, when) => {
        if (server.storage.dead) return 'silence';
        if (where === 'commit' || where !== `${when} call`) return undefined;
        left -= 1;
        if (left >= 0) return undefined;
        server.storage.die();
        resolve(true);
        return 'silence';
      });
    });
    const died = await Promise.race([dead, work().then(() => false)]);
    server.storage.die();
    server = await server.restart();
    aws.front.watch(() => undefined);
    expect(died).toBe(dies);
    return died;
  };

  const leases = async (): Promise<string[]> => {
    const { data } = await server.ask('list', 'sys/leases/lookup/aws/creds/user');
    return (data as { keys: string[] } | null)?.keys ?? [];
  };
  const staticKey = async (): Promise<Key> => {
    const { data, errors } = await server.ask('read', 'aws/static-creds/st');
    expect(errors).toBeUndefined();
    return data as Key;
  };
  const stateOf = async (path: string, block: string): Promise<unknown> =>
    ((await server.ask('read', path)).data as Record<string, { state: string }>)[block]!.state;
  const rootKey = async (): Promise<string> => ((await server.ask('read', 'aws/config/root')).data as Key).access_key;
  /** In the lists of what is left to do. */
  const journal = async (): Promise<unknown> => (await server.ask('list', 'aws/orphans')).status;

  test.each(deaths(2, 5))('while a user is made, at %s %i: no user is left without a lease', async (...death) => {
    const died = await dieIn(death, async () => server.ask('read', 'aws/creds/user'));
    const known = await leases();
    expect(known).toHaveLength(died ? 0 : 1);
    await server.pass(400);
    expect(await beside.madeUsers()).toHaveLength(known.length);
    expect(await journal()).toBe(404);
    await server.pass(3_600, 55);
    expect(await beside.madeUsers()).toEqual([]);
    expect(await journal()).toBe(404);
  });

  test.each(deaths(3, 10))('while a lease is revoked, at %s %i: the user goes all the same', async (...death) => {
    const { leaseId } = await server.ask('read', 'aws/creds/user');
    await server.pass(120);
    await dieIn(death, async () => server.ask('update', 'sys/leases/revoke', { lease_id: leaseId, sync: true }));
    await server.pass(400);
    // Died before the wish was stored: the lease stands, and its user.
    expect(await beside.madeUsers()).toHaveLength((await leases()).length);
    await server.pass(3_600, 55);
    expect(await beside.madeUsers()).toEqual([]);
    expect(await leases()).toEqual([]);
    expect(await journal()).toBe(404);
  });

  test.each(deaths(6, 6))(
    'while a static role is rotated, at %s %i: the key that is answered works, at once and later',
    async (...death) => {
      const before = await staticKey();
      const died = await dieIn(death, async () => server.ask('update', 'aws/rotate-role/st'));
      const atOnce = await staticKey();
      expect(await beside.identity(atOnce)).toBe('arn:aws:iam::123456789012:user/static1');
      await server.pass(400);
      const later = await staticKey();
      expect(await beside.identity(later)).toBe('arn:aws:iam::123456789012:user/static1');
      expect(await beside.keysOf('static1')).toEqual([later.access_key]);
      expect(await stateOf('aws/static-roles/st', 'status')).toBe('waiting');
      if (!died) expect(later.access_key).not.toBe(before.access_key);
    },
  );

  test.each(deaths(PLANNED, 6))(
    'while a static role is rotated by plan, at %s %i: the key that is answered works, and is another one later',
    async (...death) => {
      await done('update', 'aws/static-roles/st', { rotation_period: '1h' });
      const before = await staticKey();
      // Up to here the process dies of nothing: the core commits its own work, too.
      await server.advance('59m');
      await dieIn(death, async () => server.advance('1m'));
      expect(await beside.identity(await staticKey())).toBe('arn:aws:iam::123456789012:user/static1');
      await server.pass(400);
      const later = await staticKey();
      expect(later.access_key).not.toBe(before.access_key);
      expect(await beside.identity(later)).toBe('arn:aws:iam::123456789012:user/static1');
      expect(await beside.keysOf('static1')).toEqual([later.access_key]);
      expect(await stateOf('aws/static-roles/st', 'status')).toBe('waiting');
    },
  );

  test.each(deaths(6, 6))('while a static role of a user with two keys is rotated, at %s %i: one good key is left', async (...death) => {
    await beside.createKey('static1');
    await dieIn(death, async () => server.ask('update', 'aws/rotate-role/st'));
    await server.pass(400);
    const later = await staticKey();
    expect(await beside.identity(later)).toBe('arn:aws:iam::123456789012:user/static1');
    expect(await beside.keysOf('static1')).toContain(later.access_key);
    expect(await stateOf('aws/static-roles/st', 'status')).toBe('waiting');
  });

  test.each(deaths(5, 4))('while a static role is made, at %s %i: it is whole or not there', async (...death) => {
    await done('delete', 'aws/static-roles/st');
    const died = await dieIn(death, async () =>
      server.ask('update', 'aws/static-roles/st', { username: 'static1', rotation_period: '24h' }),
    );
    await server.pass(400);
    const there = (await server.ask('read', 'aws/static-roles/st')).status === 200;
    if (!died) expect(there).toBe(true);
    expect(await beside.keysOf('static1')).toEqual(there ? [(await staticKey()).access_key] : []);
    if (there) expect(await beside.identity(await staticKey())).toBe('arn:aws:iam::123456789012:user/static1');
  });

  test.each(deaths(5, 5))(
    'while a static role takes a user over, at %s %i: the user has one manager, and every key is known',
    async (...death) => {
      await done('update', 'sys/mounts/other', { type: 'aws' });
      await done('update', 'other/config/root', rootConfig(aws.front.endpoint, await beside.createKey('static2'), { max_retries: 0 }));
      const taking = { username: 'static1', rotation_period: '24h', adopt: true };
      const died = await dieIn(death, async () => server.ask('update', 'other/static-roles/taker', taking));
      await server.pass(400);
      const taken = (await server.ask('read', 'other/static-roles/taker')).status === 200;
      if (!died) expect(taken).toBe(true);
      const keys = [(await staticKey()).access_key];
      if (taken) keys.push(((await server.ask('read', 'other/static-creds/taker')).data as Key).access_key);
      expect(await beside.keysOf('static1')).toEqual(keys.sort());
      expect(await stateOf('aws/static-roles/st', 'status')).toBe(taken ? 'failed' : 'waiting');
      if (taken) expect(await stateOf('other/static-roles/taker', 'status')).toBe('waiting');
    },
  );

  test.each(deaths(2, 2))('while a static role is deleted, at %s %i: its key goes with it', async (...death) => {
    await dieIn(death, async () => server.ask('delete', 'aws/static-roles/st'));
    await server.pass(400);
    const there = (await server.ask('read', 'aws/static-roles/st')).status === 200;
    expect(await beside.keysOf('static1')).toEqual(there ? [(await staticKey()).access_key] : []);
  });

  /** A static role of another account; the next process begins without credentials of the role. */
  const otherAccount = async () => {
    await aws.moto.enforce(Infinity);
    const there = await besideIn(aws.moto.endpoint, '111111111111');
    await there.iam.send(new CreateUserCommand({ UserName: 'app' }));
    const role = { username: 'app', rotation_period: '24h', assume_role_arn: 'arn:aws:iam::111111111111:role/rotator' };
    const write = async () => server.ask('update', 'aws/static-roles/app', role);
    const forget = async () => done('update', 'aws/config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
    const key = async () => (await server.ask('read', 'aws/static-creds/app')).data as Key;
    return { there, write, forget, key };
  };

  test.each(deaths(5, 6))('while a static role of another account is made, at %s %i: it is whole or not there', async (...death) => {
    const { there, write, key } = await otherAccount();
    const died = await dieIn(death, write);
    await server.pass(400);
    const stands = (await server.ask('read', 'aws/static-roles/app')).status === 200;
    if (!died) expect(stands).toBe(true);
    expect(await there.keysOf('app')).toEqual(stands ? [(await key()).access_key] : []);
  });

  test.each(deaths(6, 8))(
    'while a static role of another account is rotated, at %s %i: the key that is answered works, at once and later',
    async (...death) => {
      const { there, write, forget, key } = await otherAccount();
      await write();
      await forget();
      const before = await key();
      const died = await dieIn(death, async () => server.ask('update', 'aws/rotate-role/app'));
      expect(await there.keysOf('app')).toContain((await key()).access_key);
      await server.pass(400);
      const later = await key();
      expect(await there.keysOf('app')).toEqual([later.access_key]);
      if (!died) expect(later.access_key).not.toBe(before.access_key);
    },
  );

  test.each(deaths(PLANNED, 8))(
    'while a static role of another account is rotated by plan, at %s %i: the key that is answered works, and is another one later',
    async (...death) => {
      const { there, write, forget, key } = await otherAccount();
      await write();
      await done('update', 'aws/static-roles/app', { rotation_period: '1h' });
      const before = await key();
      await server.advance('59m');
      await forget();
      await dieIn(death, async () => server.advance('1m'));
      expect(await there.keysOf('app')).toContain((await key()).access_key);
      await server.pass(400);
      const later = await key();
      expect(later.access_key).not.toBe(before.access_key);
      expect(await there.keysOf('app')).toEqual([later.access_key]);
    },
  );

  test.each(deaths(2, 4))('while a static role of another account is deleted, at %s %i: its key goes with it', async (...death) => {
    const { there, write, forget, key } = await otherAccount();
    await write();
    await forget();
    await dieIn(death, async () => server.ask('delete', 'aws/static-roles/app'));
    await server.pass(400);
    const stands = (await server.ask('read', 'aws/static-roles/app')).status === 200;
    expect(await there.keysOf('app')).toEqual(stands ? [(await key()).access_key] : []);
  });

  test.each(deaths(6, 7))('while the root key is rotated, at %s %i: the engine works, at once and later', async (...death) => {
    const before = await rootKey();
    const died = await dieIn(death, async () => server.ask('update', 'aws/config/rotate-root'));
    await done('read', 'aws/creds/user');
    await server.pass(400);
    await done('read', 'aws/creds/user');
    const after = await rootKey();
    expect(await beside.keysOf('svc')).toEqual([after]);
    expect(await stateOf('aws/config/root', 'root_rotation')).toBe('idle');
    if (!died) expect(after).not.toBe(before);
  });

  test.each(deaths(PLANNED, 7))(
    'while the root key is rotated by plan, at %s %i: the engine works, at once and later',
    async (...death) => {
      const before = await rootKey();
      const { access_key, secret_key } = aws.root;
      await done(
        'update',
        'aws/config/root',
        rootConfig(aws.front.endpoint, { access_key, secret_key }, { max_retries: 0, rotation_period: '1h' }),
      );
      // Up to here the process dies of nothing: the core commits its own work, too.
      await server.advance('59m');
      await dieIn(death, async () => server.advance('1m'));
      await done('read', 'aws/creds/user');
      await server.pass(400);
      await done('read', 'aws/creds/user');
      const after = await rootKey();
      expect(after).not.toBe(before);
      expect(await beside.keysOf('svc')).toEqual([after]);
      expect(await stateOf('aws/config/root', 'root_rotation')).toBe('waiting');
    },
  );

  test.each(deaths(6, 7))(
    'while the root key is rotated, at %s %i, and another one is configured then: no key of the first is left',
    async (...death) => {
      const before = await rootKey();
      await dieIn(death, async () => server.ask('update', 'aws/config/rotate-root'));
      const configured = await rootKey();
      const other = await beside.createKey('static2');
      await done('update', 'aws/config/root', rootConfig(aws.front.endpoint, other, { max_retries: 0 }));
      await server.pass(600);
      // The operator's key stays. One that the engine had put in its place is known to nobody.
      expect(await beside.keysOf('svc')).toEqual(configured === before ? [before] : []);
      await done('read', 'aws/creds/user');
    },
  );
});
