import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { DatabaseHost, DatabaseSession } from '@strongroom/database-sdk';
import { mongodbPlugin } from '../src/index.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

// FerretDB knows no roles, so these commands go to a recorder; its answers are those of MongoDB 7.

const logged: string[] = [];
const log = (message: string) => void logged.push(message);
const host: DatabaseHost = { log: { debug: log, info: log, warn: log, error: log }, now: () => new Date() };
const signal = () => AbortSignal.timeout(20_000);
const password = 'Abc-123456789012345';
const credential = { type: 'password', password } as const;

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
beforeEach(() => {
  server.commands.length = 0;
  server.answers.clear();
});
afterAll(() => server.close());

const withSession = async (work: (session: DatabaseSession) => Promise<unknown>, query = '', write_concern?: string) => {
  const connection_url = `mongodb://127.0.0.1:${server.port}/${query}`;
  const session = await mongodbPlugin.open({ connection_url, ...(write_concern !== undefined && { write_concern }) }, host);
  try {
    await work(session);
  } finally {
    await session.close();
  }
};
const create = (session: DatabaseSession, ...commands: string[]) =>
  session.createUser({
    username: 'v-x',
    credential,
    expiresAt: new Date(),
    statements: { commands },
    rollback: { commands: [] },
    signal: signal(),
  });
const remove = (session: DatabaseSession, ...commands: string[]) =>
  session.deleteUser({ username: 'v-x', statements: { commands }, signal: signal() });
/** What the driver adds to every command. */
const sent = () => server.commands.map(({ lsid: _session, $clusterTime: _time, ...command }) => command);

test('creation_statements: roles go to createUser, with the database where one is given', async () => {
  const roles = [{ role: 'readWrite' }, { role: 'read', db: 'foo' }, 'dbAdmin'];
  await withSession((session) => create(session, JSON.stringify({ db: 'app', roles })));
  expect(sent()).toEqual([{ createUser: 'v-x', pwd: password, roles: ['readWrite', { role: 'read', db: 'foo' }, 'dbAdmin'], $db: 'app' }]);
});

test('creation_statements: the database is admin by default, other options of createUser go with it, names are filled in', async () => {
  const statement = {
    roles: [],
    mechanisms: ['SCRAM-SHA-256'],
    customData: { for: '{{name}}', deep: [{ er: '{{username}}' }] },
    authenticationRestrictions: [{ clientSource: ['127.0.0.1'] }],
  };
  await withSession((session) => create(session, JSON.stringify(statement)));
  expect(sent()).toEqual([
    {
      createUser: 'v-x',
      pwd: password,
      ...statement,
      customData: { for: 'v-x', deep: [{ er: 'v-x' }] },
      $db: 'admin',
    },
  ]);
});

test('preview shows the command that is sent', async () => {
  const statement = '{ "db": "app", "roles": ["read"] }';
  const request = { username: 'v-x', credential, expiresAt: new Date() };
  const [shown, ...more] = mongodbPlugin.preview!({ ...request, statements: { commands: [statement] } });
  await withSession((session) => create(session, statement));
  const { $db, ...body } = sent()[0]!;
  expect(shown).toBe(`db.getSiblingDB(${JSON.stringify($db)}).runCommand(${JSON.stringify(body)})`);
  expect(more).toEqual([]);
});

test.each([
  ['creation_statements that say nothing', [], /^empty creation statements$/],
  ['creation_statements that are no JSON', ['CREATE USER'], 'not valid JSON'],
  ['creation_statements that are no object', ['["readWrite"]'], 'must be a JSON object'],
  ['creation_statements without roles', ['{ "db": "admin" }'], /^roles array is required in creation statement$/],
  ['two creation_statements', ['{ "roles": [] }', '{ "roles": [] }'], 'one creation statement is expected, but there are 2'],
  ['a database that is none', ['{ "db": "a.b", "roles": [] }'], 'db in a statement must be the name of a database'],
  ['a role that is none', ['{ "roles": [{ "role": { "$ne": 1 } }] }'], 'roles in a creation statement must be names or'],
  ['a role with more than role and db', ['{ "roles": [{ "role": "read", "x": 1 }] }'], 'roles in a creation statement must be names or'],
  ['an unknown key', ['{ "roles": [], "pwd": "x" }'], 'a creation statement cannot have "pwd"'],
  ['a placeholder without a value', ['{ "roles": ["{{password}}"] }'], '{{password}}, which has no value here'],
])('%s: is refused and nothing sent', async (_, commands, message) => {
  await withSession(async (session) => {
    const creating = create(session, ...commands);
    await expect(creating).rejects.toThrow(message);
    await expect(creating).rejects.toMatchObject({ code: 'statement_invalid' });
  });
  expect(sent()).toEqual([]);
});

test('what the server refuses is said in its words, with its code', async () => {
  server.answers.set('createUser', { ok: 0, errmsg: 'Could not find role: nonsense@admin', code: 31, codeName: 'RoleNotFound' });
  await withSession((session) =>
    expect(create(session, '{ "roles": ["nonsense"] }')).rejects.toMatchObject({
      code: 'statement_failed',
      serverCode: '31',
      message: 'failed to execute query: (RoleNotFound) Could not find role: nonsense@admin',
    }),
  );
});

test('a server that steps down has perhaps done what it was asked', async () => {
  server.answers.set('createUser', { ok: 0, errmsg: 'not primary', code: 10_107, codeName: 'NotWritablePrimary' });
  await withSession((session) => expect(create(session, '{ "roles": [] }')).rejects.toMatchObject({ code: 'connection_lost' }));
});

test('write_concern: goes with every change, and revocation waits for the majority without one', async () => {
  await withSession(
    async (session) => {
      await create(session, '{ "roles": [] }');
      await session.updateUser({ username: 'v-x', credential, statements: { commands: [] }, signal: signal() });
      await remove(session);
    },
    '',
    '{ "wmode": "rack", "wtimeout": 5000, "j": true }',
  );
  const writeConcern = { w: 'rack', wtimeout: 5000, j: true };
  expect(sent()).toMatchObject([
    { createUser: 'v-x', writeConcern },
    { updateUser: 'v-x', writeConcern },
    { dropUser: 'v-x', writeConcern },
  ]);
  server.commands.length = 0;
  await withSession((session) => remove(session));
  expect(sent()).toEqual([{ dropUser: 'v-x', writeConcern: { w: 'majority' }, $db: 'admin' }]);
});

test('write_concern: base64 and the variants of the mgo driver are understood', async () => {
  const written = { W: 2, WTimeout: 10, FSync: true };
  await withSession((session) => create(session, '{ "roles": [] }'), '', Buffer.from(JSON.stringify(written)).toString('base64'));
  await withSession((session) => create(session, '{ "roles": [] }'), '', '{}');
  expect(sent()).toMatchObject([{ writeConcern: { w: 2, wtimeout: 10, j: true } }, { writeConcern: { w: 'majority' } }]);
});

test('rotation_statements say the database of the user; otherwise it is that of the login', async () => {
  const update = (session: DatabaseSession, ...commands: string[]) =>
    session.updateUser({ username: 'v-x', credential, statements: { commands }, signal: signal() });
  await withSession(async (session) => {
    await update(session, '{ "db": "app" }');
    await update(session);
    await expect(update(session, '{ "roles": [] }')).rejects.toThrow('a rotation statement cannot have "roles"');
  });
  expect(sent()).toEqual([
    { updateUser: 'v-x', pwd: password, $db: 'app' },
    { updateUser: 'v-x', pwd: password, $db: 'admin' },
  ]);
});

test('revocation_statements say the database, which is then the only one looked at', async () => {
  server.answers.set('dropUser', { ok: 0, errmsg: 'User not found', code: 11, codeName: 'UserNotFound' });
  await withSession((session) => remove(session, '{ "db": "app" }'));
  expect(sent()).toMatchObject([{ dropUser: 'v-x', $db: 'app' }]);
});

test('revocation by a manager who may not list the users of all databases ends with admin, and says so', async () => {
  server.answers.set('dropUser', { ok: 0, errmsg: 'User not found', code: 11, codeName: 'UserNotFound' });
  server.answers.set('usersInfo', { ok: 0, errmsg: 'not authorized on admin to execute command', code: 13, codeName: 'Unauthorized' });
  await withSession((session) => remove(session));
  expect(sent()).toMatchObject([{ dropUser: 'v-x', $db: 'admin' }, { usersInfo: { forAllDBs: true } }]);
  expect(logged.join()).toContain('may not list the users of all databases');
});

test('revocation: the sessions of a user are ended once it is gone, in the database that it was of', async () => {
  const end = async (session: DatabaseSession, endSessions: boolean, ...commands: string[]) =>
    session.deleteUser({ username: 'v-x', statements: { commands }, signal: signal(), endSessions });
  await withSession(async (session) => {
    await end(session, true);
    await end(session, true, '{"db": "app"}');
    await end(session, false);
  });
  const expected = [
    { dropUser: 'v-x', $db: 'admin' },
    { killAllSessions: [{ user: 'v-x', db: 'admin' }], $db: 'admin' },
    { dropUser: 'v-x', $db: 'app' },
    { killAllSessions: [{ user: 'v-x', db: 'app' }], $db: 'admin' },
    { dropUser: 'v-x', $db: 'admin' },
  ];
  expect(sent()).toMatchObject(expected);
  expect(sent().filter((command) => 'killAllSessions' in command)).toHaveLength(2);
});

test.each([
  ['does not know the command', { ok: 0, code: 59, codeName: 'CommandNotFound', errmsg: "no such command: 'killAllSessions'" }],
  ['does not let its managing user', { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on admin to execute command' }],
])('revocation: a server that %s end sessions keeps nobody from being removed', async (_, refusal) => {
  server.answers.set('killAllSessions', refusal);
  logged.length = 0;
  await withSession((session) =>
    session.deleteUser({ username: 'v-x', statements: { commands: [] }, signal: signal(), endSessions: true }),
  );
  expect(sent().map((command) => Object.keys(command)[0])).toEqual(['dropUser', 'killAllSessions']);
  expect(logged).toEqual(['the sessions of a removed user were not ended']);
});
