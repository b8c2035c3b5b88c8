import { describe, expect, test } from '@jest/globals';
import { BadRequest, type CountedLogin } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import fc from 'fast-check';
import {
  lockoutTuning,
  mergeLockoutConfig,
  requireCountedLogins,
  type LockoutDefaults,
  type LockoutMount,
  type UserLockoutConfig,
} from '../../../src/services/lockout/lockout-settings.ts';
import { UserLockout } from '../../../src/services/lockout/user-lockout.ts';
import { lockedUserPaths } from '../../../src/api/sys/path-locked-users.ts';
import { call } from '../identity/call.ts';
import { ManualClock } from '../identity/identity-fixture.ts';

const MINUTE = 60;

function mounted(type = 'ldap', user_lockout_config?: UserLockoutConfig, accessor = `auth_${type}_1`): LockoutMount {
  return { accessor, type, config: user_lockout_config ? { user_lockout_config } : {} };
}

const wrong = new BadRequest('invalid credentials');
const outage = new Error('the directory is down');
const refused = (error: unknown): boolean => error === wrong;

function fixture(view = new MemoryView(), clock = new ManualClock(), defaults: LockoutDefaults = {}) {
  const lockout = new UserLockout({ storage: view, clock, defaults });
  const attempt = async (mount: LockoutMount, name: string | CountedLogin, answer: 'right' | 'wrong' | 'outage'): Promise<string> => {
    try {
      return await lockout.guard(
        mount,
        name,
        () => {
          if (answer === 'wrong') return Promise.reject(wrong);
          if (answer === 'outage') return Promise.reject(outage);
          return Promise.resolve('in');
        },
        refused,
      );
    } catch (error) {
      return error === wrong
        ? 'refused'
        : error === outage
          ? 'outage'
          : `${(error as { status?: number }).status} ${(error as Error).message}`;
    }
  };
  const guess = async (mount: LockoutMount, name: string | CountedLogin, times: number): Promise<string> => {
    let last = '';
    for (let time = 0; time < times; time += 1) last = await attempt(mount, name, 'wrong');
    return last;
  };
  return { view, clock, lockout, attempt, guess };
}

const locked = '403 permission denied';

describe('the lockout of login names', () => {
  test('locks after five refused logins for a quarter of an hour, also against the right password', async () => {
    const { clock, attempt, guess } = fixture();
    expect(await guess(mounted(), 'bob', 5)).toBe('refused');
    expect(await attempt(mounted(), 'bob', 'right')).toBe(locked);
    expect(await attempt(mounted(), 'bob', 'wrong')).toBe(locked);
    clock.advance(15 * MINUTE - 1);
    expect(await attempt(mounted(), 'bob', 'right')).toBe(locked);
    clock.advance(1);
    expect(await guess(mounted(), 'bob', 4)).toBe('refused');
    expect(await attempt(mounted(), 'bob', 'right')).toBe('in');
  });

  test('check refuses with 403 while a name is locked', async () => {
    const { lockout } = fixture();
    for (let time = 0; time < 5; time += 1) {
      await lockout.check(mounted(), 'bob');
      await lockout.failed(mounted(), 'bob');
    }
    await expect(lockout.check(mounted(), 'bob')).rejects.toMatchObject({ status: 403, errors: ['permission denied'] });
    await lockout.check(mounted(), 'alice');
  });

  test('counts names by themselves, and each login method by itself', async () => {
    const { attempt, guess } = fixture();
    await guess(mounted(), 'bob', 5);
    expect(await attempt(mounted(), 'alice', 'right')).toBe('in');
    expect(await attempt(mounted('ldap', undefined, 'auth_ldap_2'), 'bob', 'right')).toBe('in');
  });

  test('takes variants that a directory does not tell apart for one name', async () => {
    const { attempt } = fixture();
    for (const name of ['bob smith', 'Bob Smith', ' bob smith', 'bob  smith ', 'ｂob smith'])
      expect(await attempt(mounted(), name, 'wrong')).toBe('refused');
    expect(await attempt(mounted(), 'bob smith', 'right')).toBe(locked);
  });

  test('a success in between starts the count again, and a long pause too', async () => {
    const { clock, attempt, guess, view } = fixture();
    await guess(mounted(), 'bob', 4);
    expect(await attempt(mounted(), 'bob', 'right')).toBe('in');
    expect(view.store.records.size).toBe(0);
    await guess(mounted(), 'bob', 4);
    clock.advance(15 * MINUTE);
    await guess(mounted(), 'bob', 4);
    expect(await attempt(mounted(), 'bob', 'right')).toBe('in');
  });

  test('a success that is not of the name leaves the count as it is', async () => {
    const { lockout, guess, attempt } = fixture();
    await guess(mounted(), 'bob', 4);
    const through = async (theirs: boolean) =>
      lockout.guard(
        mounted(),
        'bob',
        async () => 'in',
        refused,
        () => theirs,
      );
    expect(await through(false)).toBe('in');
    expect(await attempt(mounted(), 'bob', 'wrong')).toBe('refused');
    expect(await attempt(mounted(), 'bob', 'right')).toBe(locked);
  });

  test('an outage of the directory counts for nothing', async () => {
    const { attempt, guess, view } = fixture();
    await guess(mounted(), 'bob', 4);
    const before = view.commits;
    for (let time = 0; time < 5; time += 1) expect(await attempt(mounted(), 'bob', 'outage')).toBe('outage');
    expect(view.commits).toBe(before);
    expect(await attempt(mounted(), 'bob', 'right')).toBe('in');
  });

  test('logins that succeed write nothing, and read once', async () => {
    const { attempt, view } = fixture();
    for (let time = 0; time < 10; time += 1) expect(await attempt(mounted(), 'bob', 'right')).toBe('in');
    expect(view.commits).toBe(0);
    expect(view.reads).toBe(10);
  });

  test.each(['userpass', 'approle'])('holds for %s', async (type) => {
    const { attempt, guess } = fixture();
    await guess(mounted(type), 'bob', 5);
    expect(await attempt(mounted(type), 'bob', 'right')).toBe(locked);
  });

  test.each([
    [{ lockout_disable: true }, {}],
    [undefined, { disabled: true }],
    [{ lockout_disable: false }, { disabled: true }],
    [undefined, { all: { lockout_disable: true } }],
    [undefined, { all: { lockout_disable: false }, types: new Map([['ldap', { lockout_disable: true }]]) }],
  ])('counts nothing where a mount is tuned to %j and the configuration is %j', async (config, defaults: LockoutDefaults) => {
    const { attempt, guess, view } = fixture(undefined, undefined, defaults);
    expect(await guess(mounted('ldap', config), 'bob', 20)).toBe('refused');
    expect(await attempt(mounted('ldap', config), 'bob', 'right')).toBe('in');
    expect(view.store.records.size).toBe(0);
  });

  test('takes what a mount is not tuned to from the section of its type, and then from that of all types', async () => {
    const defaults = {
      all: { lockout_threshold: 3, lockout_duration: 60, lockout_disable: true },
      types: new Map([['ldap', { lockout_threshold: 2, lockout_disable: false }]]),
    };
    const { attempt, guess, clock } = fixture(undefined, undefined, defaults);
    await guess(mounted(), 'bob', 2);
    expect(await attempt(mounted(), 'bob', 'right')).toBe(locked);
    clock.advance(60);
    expect(await attempt(mounted(), 'bob', 'right')).toBe('in');
    const tuned = mounted('ldap', { lockout_threshold: 1 });
    await guess(tuned, 'carl', 1);
    expect(await attempt(tuned, 'carl', 'right')).toBe(locked);
    expect(await guess(mounted('userpass'), 'bob', 20)).toBe('refused');
  });

  test('refusals at one origin do not lock a name for another, and an operator unlocks them all', async () => {
    const { attempt, guess, lockout } = fixture();
    const here = { name: 'role-1', from: '10.0.0.1' };
    const there = { name: 'role-1', from: '10.0.0.2' };
    await guess(mounted('approle'), here, 5);
    expect(await attempt(mounted('approle'), here, 'right')).toBe(locked);
    expect(await attempt(mounted('approle'), there, 'right')).toBe('in');
    await guess(mounted('approle'), there, 5);
    expect(await lockout.locked([mounted('approle')])).toEqual([{ accessor: 'auth_approle_1', names: ['role-1'] }]);
    await lockout.unlock('auth_approle_1', 'ROLE-1');
    for (const origin of [here, there]) expect(await attempt(mounted('approle'), origin, 'right')).toBe('in');
  });

  test('goes by what the operator tuned', async () => {
    const { clock, attempt, guess } = fixture();
    const mount = mounted('ldap', { lockout_threshold: 2, lockout_duration: 3600, lockout_counter_reset: 10 });
    await guess(mount, 'bob', 1);
    clock.advance(10);
    await guess(mount, 'bob', 1);
    expect(await attempt(mount, 'bob', 'right')).toBe('in');
    await guess(mount, 'bob', 2);
    clock.advance(3599);
    expect(await attempt(mount, 'bob', 'right')).toBe(locked);
    clock.advance(1);
    expect(await attempt(mount, 'bob', 'right')).toBe('in');
  });

  test('holds after a restart and in other processes', async () => {
    const first = fixture();
    await first.guess(mounted(), 'bob', 3);
    const second = fixture(first.view, first.clock);
    expect(await second.guess(mounted(), 'bob', 2)).toBe('refused');
    expect(await first.attempt(mounted(), 'bob', 'right')).toBe(locked);
    expect(await fixture(first.view, first.clock).attempt(mounted(), 'bob', 'right')).toBe(locked);
  });

  test('names that nobody fails with any more are forgotten, locks that still hold are not', async () => {
    const { clock, guess, attempt, view } = fixture();
    const long = mounted('ldap', { lockout_duration: 86_400 }, 'auth_ldap_long');
    await guess(long, 'bob', 5);
    for (let at = 0; at < 300; at += 1) await guess(mounted(), `user${at}`, 1);
    expect(view.store.records.size).toBe(301);
    clock.advance(16 * MINUTE);
    for (let at = 0; at < 300; at += 1) await guess(mounted(), `other${at}`, 1);
    expect(view.store.records.size).toBe(301);
    expect(await attempt(long, 'bob', 'right')).toBe(locked);
  });

  test('names that nobody has do not fill the store, and do not unlock a name', async () => {
    const view = new MemoryView();
    const lockout = new UserLockout({ storage: view, clock: new ManualClock(), most: 500 });
    for (let time = 0; time < 5; time += 1) await lockout.failed(mounted(), 'bob');
    for (let number = 0; number < 3_000; number += 1) await lockout.failed(mounted(), `nobody ${number}`);
    expect(view.store.records.size).toBeLessThan(1_500);
    expect(await lockout.isLocked(mounted(), 'bob')).toBe(true);
    expect(await lockout.isLocked(mounted(), 'nobody 2999')).toBe(false);
  });

  test('behaves as a plain counter does, whatever happens in whatever order', async () => {
    const step = fc.oneof(
      fc.record({ answer: fc.constantFrom('right' as const, 'wrong' as const, 'wrong' as const, 'outage' as const) }),
      fc.record({ wait: fc.constantFrom(1, 7 * MINUTE, 15 * MINUTE) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, attempt } = fixture();
        let failures = 0;
        let last = -Infinity;
        for (const one of steps) {
          if ('wait' in one) {
            clock.advance(one.wait);
            continue;
          }
          const since = (clock.millis() - last) / 1000;
          if (since >= 15 * MINUTE) failures = 0;
          const answer = await attempt(mounted(), 'bob', one.answer);
          if (failures >= 5) {
            expect(answer).toBe(locked);
          } else if (one.answer === 'wrong') {
            expect(answer).toBe('refused');
            failures += 1;
            last = clock.millis();
          } else {
            expect(answer).toBe(one.answer === 'right' ? 'in' : 'outage');
            if (one.answer === 'right') failures = 0;
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('logins at once', () => {
  test('of 50 wrong guesses at once no more than five are looked at', async () => {
    const { attempt, lockout } = fixture();
    const answers = await Promise.all(Array.from({ length: 50 }, () => attempt(mounted(), 'bob', 'wrong')));
    expect(answers.filter((answer) => answer === 'refused')).toHaveLength(5);
    expect(answers.filter((answer) => answer === locked)).toHaveLength(45);
    expect(await lockout.locked([mounted()])).toEqual([{ accessor: 'auth_ldap_1', names: ['bob'] }]);
  });

  test('two processes together look at no more than each of them would', async () => {
    const first = fixture();
    const second = fixture(first.view, first.clock);
    const guesses = [first, second].flatMap(({ attempt }) => Array.from({ length: 20 }, () => attempt(mounted(), 'bob', 'wrong')));
    const seen = (await Promise.all(guesses)).filter((answer) => answer === 'refused').length;
    expect(seen).toBeGreaterThanOrEqual(5);
    expect(seen).toBeLessThanOrEqual(10);
    expect(await first.attempt(mounted(), 'bob', 'right')).toBe(locked);
  });

  test('100 right logins at once all get in', async () => {
    const { attempt, view } = fixture();
    const answers = await Promise.all(Array.from({ length: 100 }, () => attempt(mounted(), 'bob', 'right')));
    expect(new Set(answers)).toEqual(new Set(['in']));
    expect(view.commits).toBe(0);
  });

  test('slow logins wait for a place and then get in, those of other names do not wait', async () => {
    const { lockout } = fixture();
    const running = { now: 0, most: 0 };
    const ends: (() => void)[] = [];
    const slow = async (): Promise<string> => {
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await new Promise<void>((resolve) => ends.push(resolve));
      running.now -= 1;
      return 'in';
    };
    const logins = Array.from({ length: 12 }, () => lockout.guard(mounted(), 'bob', slow, refused));
    expect(await lockout.guard(mounted(), 'alice', () => Promise.resolve('in'), refused)).toBe('in');
    let open = logins.length;
    for (const login of logins) void login.then(() => (open -= 1));
    while (open > 0) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(running.most).toBe(5);
    expect(await Promise.all(logins)).toEqual(Array(12).fill('in'));
  });

  test('a mixture of answers at once never hangs and never shows a sixth refusal', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('right' as const, 'wrong' as const, 'outage' as const), { maxLength: 30 }),
        async (kinds) => {
          const { attempt } = fixture();
          const answers = await Promise.all(kinds.map((kind) => attempt(mounted(), 'bob', kind)));
          const rights = kinds.filter((kind) => kind === 'right').length;
          const seen = answers.filter((answer) => answer === 'refused').length;
          if (rights === 0) expect(seen).toBe(Math.min(5, kinds.filter((kind) => kind === 'wrong').length));
          expect(answers).toHaveLength(kinds.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('locked-users', () => {
  test('lists locked names by login method, the fullest first, and unlocks them', async () => {
    const { lockout, guess, attempt, clock } = fixture();
    const mounts = [mounted(), mounted('userpass')];
    const paths = lockedUserPaths({ lockout, loginMounts: () => mounts });
    const empty = { namespace_id: 'root', namespace_path: '', counts: 0, mount_accessors: [] };
    expect(await call(paths, 'read', 'locked-users')).toEqual({ status: 200, data: { by_namespace: [empty], total: 0 } });
    await guess(mounts[0]!, 'Bob', 5);
    await guess(mounts[0]!, 'almost', 4);
    for (const name of ['x/y', 'a']) await guess(mounts[1]!, name, 5);
    const ldap = { mount_accessor: 'auth_ldap_1', counts: 1, alias_identifiers: ['bob'] };
    const userpass = { mount_accessor: 'auth_userpass_1', counts: 2, alias_identifiers: ['a', 'x/y'] };
    const all = { by_namespace: [{ ...empty, counts: 3, mount_accessors: [userpass, ldap] }], total: 3 };
    expect(await call(paths, 'read', 'locked-users')).toEqual({ status: 200, data: all });
    const one = { by_namespace: [{ ...empty, counts: 1, mount_accessors: [ldap] }], total: 1 };
    expect(await call(paths, 'read', 'locked-users', { mount_accessor: 'auth_ldap_1' })).toEqual({ status: 200, data: one });

    for (const name of ['BOB', 'nobody']) {
      expect(await call(paths, 'update', `locked-users/auth_ldap_1/unlock/${name}`)).toEqual({ status: 204, data: null });
    }
    expect(await attempt(mounts[0]!, 'bob', 'right')).toBe('in');
    await call(paths, 'update', 'locked-users/auth_userpass_1/unlock/x/y');
    expect(await attempt(mounts[1]!, 'x/y', 'right')).toBe('in');
    clock.advance(15 * MINUTE);
    expect((await call(paths, 'read', 'locked-users')).data).toMatchObject({ total: 0 });
  });

  test('an unmounted login method leaves nothing behind', async () => {
    const { lockout, guess, view } = fixture();
    await guess(mounted(), 'bob', 5);
    await guess(mounted('userpass'), 'bob', 1);
    await lockout.forgetMount('auth_ldap_1');
    expect([...view.store.records.keys()]).toEqual([expect.stringMatching(/^failures\/auth_userpass_1\//)]);
  });
});

describe('user_lockout_config', () => {
  test('is for mounts whose logins are counted', () => {
    const config = { lockout_threshold: 1 };
    const text = 'tuning of user lockout configuration for auth type "jwt" not allowed';
    expect(() => requireCountedLogins({ type: 'jwt', countsLogins: false }, config)).toThrow(new BadRequest(text));
    requireCountedLogins({ type: 'jwt', countsLogins: false }, undefined);
    requireCountedLogins({ type: 'jwt', countsLogins: true }, config);
  });

  test('takes the name of the reset that command lines send', () => {
    expect(mergeLockoutConfig(undefined, { lockout_counter_reset_duration: '90s' })).toEqual({ lockout_counter_reset: 90 });
  });

  test('takes durations and texts, and changes only what is sent', () => {
    const first = mergeLockoutConfig(undefined, { lockout_threshold: '3', lockout_duration: '1h', lockout_disable: 'true' });
    expect(first).toEqual({ lockout_threshold: 3, lockout_duration: 3600, lockout_disable: true });
    const second = mergeLockoutConfig(first, { lockout_disable: false, lockout_counter_reset: 60 });
    expect(lockoutTuning(second)).toEqual({
      user_lockout_counter_threshold: 3,
      user_lockout_duration: 3600,
      user_lockout_counter_reset_duration: 60,
      user_lockout_disable: false,
    });
    expect(lockoutTuning(undefined)).toEqual({});
  });

  test.each([
    [{ lockout_threshold: 'x' }, 'field "user_lockout_config.lockout_threshold"'],
    [{ lockout_threshold: -1 }, 'field "user_lockout_config.lockout_threshold" cannot be negative'],
    [{ lockout_duration: '-5' }, 'field "user_lockout_config.lockout_duration"'],
    ['x', 'field "user_lockout_config" must be an object'],
  ])('refuses %j', (sent, text) => {
    expect(() => mergeLockoutConfig(undefined, sent)).toThrow(BadRequest);
    expect(() => mergeLockoutConfig(undefined, sent)).toThrow(text);
  });
});
