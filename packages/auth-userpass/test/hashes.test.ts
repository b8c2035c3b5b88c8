import { silentLog } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import { compareSync, hashSync } from 'bcryptjs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { HashingBulkhead } from '../src/hashing-bulkhead.ts';
import { decoyOf, kindOf, type PasswordHash } from '../src/password-hash.ts';
import { Passwords } from '../src/passwords.ts';
import { readBcrypt } from '../src/bcrypt.ts';
import { BcryptThread } from '../src/bcrypt-thread.ts';
import { login } from '../src/login.ts';
import { hashByScrypt, HOUSE_COST, type ScryptCost } from '../src/scrypt.ts';
import { Users, type User } from '../src/users.ts';
import { defaultRoleTokens } from '@strongroom/auth-sdk';
import { CHEAP } from './cheap.ts';
import { mounted, WRONG, type MountedUserpass } from './mounted.ts';

const open: MountedUserpass[] = [];
const opened = async (...options: Parameters<typeof mounted>): Promise<MountedUserpass> => {
  const mount = await mounted(...options);
  open.push(mount);
  return mount;
};
afterEach(async () => {
  for (const mount of open.splice(0)) await mount.close();
});

const signal = new AbortController().signal;

/** Passwords of a mount that stores these kinds, and the bcrypt comparisons that were made. */
function passwordsWith(kinds: readonly string[], house = CHEAP): { passwords: Passwords; compared: string[] } {
  const compared: string[] = [];
  const thread = {
    compare: async (password: string, hash: string) => {
      compared.push(hash.slice(0, 6));
      return compareSync(password, hash);
    },
  };
  const queue = new HashingBulkhead({ running: 1, waiting: 1 }).queue();
  return { passwords: new Passwords({ house, queue, thread: thread as never, kinds: async () => kinds }), compared };
}

describe('hashes of passwords', () => {
  test('are made at the cost of the house, each with a salt of its own', async () => {
    const one = await hashByScrypt('secret', CHEAP);
    const other = await hashByScrypt('secret', CHEAP);
    expect(one).toMatchObject({ kind: 'scrypt', ...CHEAP });
    expect(one.salt).not.toBe(other.salt);
    expect(one.key).not.toBe(other.key);
    expect(HOUSE_COST).toEqual({ log_n: 15, r: 8, p: 3 });
  });

  test.each(['$2a$', '$2b$', '$2y$'])(
    'of the kind %s are taken from other systems and give way to stronger ones at the first login',
    async (prefix) => {
      const mount = await opened();
      const password_hash = hashSync('imported', 5).replace(/^\$2.\$/, prefix);
      await mount.write('users/carl', { password_hash });
      expect(await mount.outcome('carl', 'other')).toBe(WRONG);
      expect(await mount.outcome('carl', 'imported')).toBe('in');
      expect(await mount.outcome('carl', 'imported')).toBe('in');
      expect(await mount.outcome('carl', 'other')).toBe(WRONG);
    },
  );

  test('of another system do not match what bcrypt would shorten or confuse', async () => {
    const mount = await opened();
    const long = 'x'.repeat(72);
    await mount.write('users/carl', { password_hash: hashSync(long, 5) });
    await mount.write('users/dora', { password_hash: hashSync('pw', 5) });
    expect(await mount.outcome('carl', `${long}y`)).toBe(WRONG);
    expect(await mount.outcome('carl', long)).toBe('in');
    expect(await mount.outcome('dora', 'pw\0pw')).toBe(WRONG);
    expect(await mount.outcome('dora', 'pw')).toBe('in');
  });

  test('that are weaker than those of the house give way to these at a login, stronger ones stay', async () => {
    const view = new MemoryView();
    const users = new Users(view);
    const stored = { cheap: await hashByScrypt('secret', CHEAP), imported: readBcrypt(hashSync('secret', 5)) };
    for (const [name, password] of Object.entries(stored))
      await users.change(name, () => ({ ...defaultRoleTokens, password, password_id: name }));
    const kindAfter = async (username: string, password: string, house: ScryptCost): Promise<string> => {
      const { passwords } = passwordsWith([], house);
      const call = { username, password, remoteAddress: '127.0.0.1', signal };
      await login({ users, passwords, log: silentLog }, call).catch(() => undefined);
      return kindOf((await users.records.get(username))!.password);
    };
    const strong = { ...CHEAP, p: 2 };
    for (const [name, hash] of Object.entries(stored)) {
      expect(await kindAfter(name, 'wrong', strong)).toBe(kindOf(hash));
      expect(await kindAfter(name, 'secret', strong)).toBe('scrypt-4-1-2');
      expect(await kindAfter(name, 'secret', CHEAP)).toBe('scrypt-4-1-2');
    }
    expect(await users.kinds()).toEqual(['scrypt-4-1-2']);
  });

  test('a password that is written while a login replaces the hash of the one before stays', async () => {
    const users = new Users(new MemoryView());
    await users.change('bob', () => ({ ...defaultRoleTokens, password: readBcrypt(hashSync('before', 5)), password_id: '1' }));
    const written = await hashByScrypt('after', CHEAP);
    const passwords = {
      check: async () => {
        await users.change('bob', (stored) => ({ ...stored!, password: written, password_id: '2' }));
        return { matches: true, stronger: await hashByScrypt('before', CHEAP) };
      },
    };
    const call = { username: 'bob', password: 'before', remoteAddress: '', signal };
    expect((await login({ users, passwords: passwords as never, log: silentLog }, call)).auth).toBeDefined();
    expect((await users.records.get('bob'))!.password).toEqual(written);
  });

  test.each([
    ['deleted', async (users: Users) => users.delete('bob'), false],
    ['given another password', async (users: Users) => users.change('bob', (stored) => ({ ...stored!, password_id: '2' })), false],
    ['given other policies', async (users: Users) => users.change('bob', (stored) => ({ ...stored!, token_policies: ['new'] })), true],
    [
      'given a stronger hash by another login',
      async (users: Users) => {
        const password = await hashByScrypt('secret', CHEAP);
        await users.change('bob', (stored) => ({ ...stored!, password }));
      },
      true,
    ],
  ])('a user who is %s while the password is being checked: whether there is a token', async (_what, change, granted) => {
    const view = new MemoryView();
    const users = new Users(view);
    await users.change('bob', () => ({ ...defaultRoleTokens, password: readBcrypt(hashSync('secret', 5)), password_id: '1' }));
    const passwords = {
      check: async () => {
        await change(users);
        return { matches: true };
      },
    };
    const call = { username: 'bob', password: 'secret', remoteAddress: '', signal };
    const { auth } = await login({ users, passwords: passwords as never, log: silentLog }, call);
    const stored = view.transaction(async (tx) => auth!.consume!(tx));
    if (granted) await stored;
    else await expect(stored).rejects.toThrow('invalid username or password');
  });

  test('are checked with the same work for every user and for nobody', async () => {
    const stored: Record<string, PasswordHash | undefined> = {
      ours: await hashByScrypt('x', CHEAP),
      imported: { kind: 'bcrypt', text: hashSync('x', 5) },
      nobody: undefined,
    };
    for (const hash of Object.values(stored)) {
      const { passwords, compared } = passwordsWith(['bcrypt-5', 'bcrypt-6', kindOf(CHEAP)]);
      expect(await passwords.check(hash, 'wrong', signal)).toEqual({ matches: false });
      expect(compared.sort()).toEqual(['$2b$05', '$2b$06']);
    }
    const { passwords, compared } = passwordsWith([]);
    await passwords.check(undefined, 'wrong', signal);
    expect(compared).toEqual([]);
  });

  test('of other systems are checked by a new thread when one has ended', async () => {
    const thread = new BcryptThread();
    const hash = hashSync('x', 5);
    expect(await thread.compare('x', hash)).toBe(true);
    const broken = hash.replace('$05$', '$99$');
    await expect(Promise.all([thread.compare('x', broken), thread.compare('x', hash)])).rejects.toThrow();
    expect([await thread.compare('x', hash), await thread.compare('y', hash)]).toEqual([true, false]);
  });

  test('have decoys of the same kind that nothing matches', async () => {
    for (const kind of ['bcrypt-5', 'bcrypt-12', 'scrypt-4-1-1', 'scrypt-15-8-3']) expect(kindOf(decoyOf(kind))).toBe(kind);
  });
});

describe('the kinds of hashes of a mount', () => {
  const user = (password: PasswordHash): User => ({ ...defaultRoleTokens, password, password_id: '1' });

  test('are those of its users, and no others', async () => {
    const users = new Users(new MemoryView());
    const ours = await hashByScrypt('x', CHEAP);
    const strong = await hashByScrypt('x', { ...CHEAP, p: 11 });
    const imported: PasswordHash = { kind: 'bcrypt', text: hashSync('x', 5) };
    expect(await users.kinds()).toEqual([]);
    for (const name of ['a', 'z.z', '_9']) await users.change(name, () => user(ours));
    await users.change('strong', () => user(strong));
    await users.change('imported', () => user(imported));
    await users.change('also', () => user(imported));
    expect(await users.kinds()).toEqual(['bcrypt-5', 'scrypt-4-1-1', 'scrypt-4-1-11']);
    await users.change('imported', () => user(ours));
    expect(await users.kinds()).toContain('bcrypt-5');
    await users.delete('also');
    await users.delete('also');
    await users.change('strong', () => undefined);
    expect(await users.kinds()).toEqual(['scrypt-4-1-1', 'scrypt-4-1-11']);
  });
});
