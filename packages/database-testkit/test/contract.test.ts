import { connect } from 'node:net';
import { describe, expect, jest, test } from '@jest/globals';
import { type DatabaseSession, StatementFailed } from '@strongroom/database-sdk';
import { CONTRACT_CASES, type ContractCase, type ContractOptions, databasePluginContract, type Skip } from '../src/index.ts';
import { MemoryDatabase, type MemoryPlugin, memoryPlugin } from './memory-plugin.ts';

type Options = ContractOptions<MemoryPlugin['connection']>;

function optionsFor(database: MemoryDatabase, plugin: MemoryPlugin, skip?: Skip[]): Options {
  return {
    plugin,
    config: { password: database.rootPassword },
    login: async (username, password) => database.login(username, password),
    creation: [`ADD "{{name}}" '{{password}}';`],
    slow: [`ADD "{{name}}" '{{password}}'; WAIT`],
    restart: async () => undefined,
    ...(skip && { skip }),
  };
}

/** Runs the contract by a runner of our own, and tells which cases ran and which of them failed. */
async function run(options: Options): Promise<{ ran: string[]; failed: string[] }> {
  const cases: [string, () => Promise<void>][] = [];
  databasePluginContract({ describe: (_, body) => body(), test: (name, body) => cases.push([name, body]) }, options);
  const failed: string[] = [];
  for (const [name, body] of cases) await body().catch(() => failed.push(name));
  return { ran: cases.map(([name]) => name), failed };
}

/** As SQL's LIKE would read it. */
const likePattern = (prefix: string) =>
  new RegExp(
    `^${prefix
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      .replace(/_/g, '.')
      .replace(/%/g, '.*')}`,
  );

async function failures(
  broken: (session: DatabaseSession, database: MemoryDatabase) => Partial<DatabaseSession>,
  change: Partial<MemoryPlugin> = {},
) {
  const database = new MemoryDatabase();
  const plugin = { ...memoryPlugin(database, (session) => broken(session, database)), ...change };
  return (await run(optionsFor(database, plugin))).failed;
}

const database = new MemoryDatabase();
databasePluginContract({ describe, test }, optionsFor(database, memoryPlugin(database)));

describe('the contract', () => {
  test('runs every case that applies', async () => {
    const { ran, failed } = await run(optionsFor(database, memoryPlugin(database)));
    expect(failed).toEqual([]);
    expect(ran).toEqual(CONTRACT_CASES.filter((name) => name !== 'native expiry refuses an expired user, and renewUser extends'));
  });

  test('a skip needs a known case and a reason, and is printed, as is what the plugin rules out', async () => {
    const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const test = 'rollback runs after a half-made user';
    const skipping = (skip: Skip) => run(optionsFor(database, memoryPlugin(database), [skip]));
    expect((await skipping({ test, reason: 'this database has no statements' })).ran).not.toContain(test);
    expect(printed).toHaveBeenCalledWith(expect.stringContaining('this database has no statements'));
    expect(printed).toHaveBeenCalledWith(expect.stringContaining('the database knows no expiry of users'));
    printed.mockRestore();
    await expect(skipping({ test, reason: ' ' })).rejects.toThrow('needs a reason');
    await expect(skipping({ test: 'no such case' as ContractCase, reason: 'a b c d' })).rejects.toThrow('no case');
  });

  test('what a case needs must be given or skipped', async () => {
    const { slow: _, restart: __, ...rest } = optionsFor(database, memoryPlugin(database));
    expect((await run(rest)).failed).toEqual([
      'an aborted signal rejects promptly',
      'after the server drops, the next call reconnects or fails with ConnectionLost',
    ]);
  });
});

describe('the contract notices a plugin that', () => {
  test('replaces placeholders carelessly', async () => {
    const found = await failures((_, { users, execute }) => ({
      async createUser({ username, credential, statements }) {
        const password = credential.type === 'password' ? credential.password : '';
        const text = statements.commands
          .map((command) => command.replaceAll('{{name}}', username).replaceAll('{{password}}', password))
          .join(';');
        for (const statement of text.split(';')) {
          try {
            execute.call({ users } as MemoryDatabase, statement.trim().replace(/^.*(?=ADD)/, ''));
          } catch {
            // Goes on, as a batch would.
          }
        }
      },
    }));
    expect(found).toContain('a quote, backslash or semicolon in a display name cannot break out of a statement');
    expect(found).toContain('a failing statement leaves no user');
    expect(found).toContain('a credential that is not supported is refused');
  });

  test('connects in open', async () => {
    const plugin = memoryPlugin(database);
    const dialling: MemoryPlugin = {
      ...plugin,
      async open(config, host) {
        connect(1, '127.0.0.1').on('error', () => undefined);
        return plugin.open(config, host);
      },
    };
    expect((await run(optionsFor(database, dialling))).failed).toEqual(['open does not dial']);
  });

  test('takes any root password', async () => {
    expect(await failures(() => ({ verify: async () => undefined }))).toContain('verify refuses bad credentials');
  });

  test('does not delete, or fails for an absent user', async () => {
    expect(await failures(() => ({ deleteUser: async () => undefined }))).toContain('deleteUser refuses later logins');
    const strict = await failures((session, { users }) => ({
      async deleteUser(request) {
        if (!users.has(request.username)) throw new StatementFailed('no such user');
        await session.deleteUser(request);
      },
    }));
    expect(strict).toContain('deleting twice succeeds');
  });

  test('keeps the old password', async () => {
    expect(await failures(() => ({ updateUser: async () => undefined }))).toContain(
      'updateUser lets the new credential in and the old one not',
    );
  });

  test('forgets undo', async () => {
    expect(
      await failures((session) => ({ createUser: (request) => session.createUser({ ...request, rollback: { commands: [] } }) })),
    ).toEqual(['rollback runs after a half-made user']);
  });

  test('ignores the signal', async () => {
    const deaf = (session: DatabaseSession): Partial<DatabaseSession> => ({
      createUser: (request) => session.createUser({ ...request, signal: new AbortController().signal }),
    });
    expect(await failures(deaf)).toEqual(['an aborted signal rejects promptly']);
  });

  test('shows a password in an error', async () => {
    const leaking = await failures((session) => ({
      async createUser(request) {
        await session.createUser(request).catch((error: Error) => {
          if (request.credential.type !== 'password') throw error;
          throw new StatementFailed('no', { cause: new Error(`ADD '${request.credential.password}'`) });
        });
      },
    }));
    expect(leaking).toContain('no error text contains the root or user password');
  });

  test('works on after close', async () => {
    expect(await failures(() => ({ close: async () => undefined }))).toEqual(['close twice is fine, later calls reject']);
  });

  test('makes names that are too long, or always the same', async () => {
    const named = 'its name obeys the template and the length limit';
    expect(await failures(() => ({}), { usernameTemplate: '{{ .RoleName }}{{ random 20 }}' })).toEqual([named]);
    expect(await failures(() => ({}), { usernameTemplate: '{{ .RoleName | truncate 30 }}' })).toContain(named);
  });

  test('previews by doing, or shows the wrong thing', async () => {
    const previewed = 'preview shows what would be sent, and does nothing';
    const shows = (preview: NonNullable<MemoryPlugin['preview']>) => failures(() => ({}), { preview });
    expect(await shows(({ statements }) => [...statements.commands])).toEqual([previewed]);
    expect(await shows(({ username }) => [`ADD "${username}" '[masked]'`])).toEqual([previewed]);
    const database = new MemoryDatabase();
    const plugin = memoryPlugin(database);
    const doing: MemoryPlugin = {
      ...plugin,
      preview(request) {
        const statements = plugin.preview!(request);
        for (const statement of statements) database.execute(statement);
        return statements;
      },
    };
    expect((await run(optionsFor(database, doing))).failed).toEqual([previewed]);
    const { preview: _, ...silent } = plugin;
    expect((await run(optionsFor(database, silent))).ran).not.toContain(previewed);
  });

  test('lists users that are gone, or by pattern', async () => {
    const listed = 'listUsers names a created user, and no deleted one';
    const gone: string[] = [];
    const remembering = await failures((session) => ({
      createUser: async (request) => (gone.push(request.username), await session.createUser(request)),
      listUsers: async ({ prefix, signal }) => {
        await session.listUsers!({ prefix, signal });
        return gone.filter((name) => name.startsWith(prefix));
      },
    }));
    expect(remembering).toEqual([listed]);
    const pattern = await failures((session, { users }) => ({
      listUsers: async ({ prefix, signal }) => {
        await session.listUsers!({ prefix, signal });
        return [...users.keys()].filter((name) => likePattern(prefix).test(name));
      },
    }));
    expect(pattern).toEqual([listed]);
  });

  test('miscounts its connections', async () => {
    const counted = 'pool counts connections, within its limit';
    const pool = (open: number, idle: number) => () => ({ pool: () => ({ open, idle, waiting: 0, limit: 2 }) });
    expect(await failures(pool(0, 0))).toEqual([counted]);
    expect(await failures(pool(1, 1))).toEqual([counted]);
    expect(await failures(pool(3, 1))).toEqual([counted]);
    expect(await failures((session) => ({ pool: () => ({ ...session.pool!(), waiting: 0, idle: session.pool!().open }) }))).toEqual([
      counted,
    ]);
  });

  test('declares itself badly', async () => {
    expect(await failures(() => ({}), { name: 'Memory Plugin' })).toEqual(['name and version are well formed']);
    expect(await failures(() => ({}), { version: 'one' })).toEqual(['name and version are well formed']);
  });
});
