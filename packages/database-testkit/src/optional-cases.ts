import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { connectionSecrets, type DatabaseSession, isDatabaseError, loginFailureOf, type PoolStatus } from '@strongroom/database-sdk';
import type { Static, TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';
import { connectionsMadeBy } from './dialling.ts';
import { deadline, type Fixture, HOUR_MS } from './fixture.ts';

/** So many calls more than there are connections. */
const SURPLUS = 3;
/** A larger pool is not filled. */
const MOST_CALLS = 40;
const NO_PASSWORD = 'the users of these tests have no passwords';

/** What a plugin or session may leave out. Of sessions that is seen once one is open, so there the case ends early. */
export const optionalCases: Cases<TObject> = {
  async 'preview shows what would be sent, and does nothing'(fixture) {
    const { plugin, creation } = fixture.options;
    const user = await fixture.newUser();
    const { username, credential, secret } = user;
    const request = { username, credential, expiresAt: new Date(Date.now() + HOUR_MS), statements: { commands: creation } };
    let shown: readonly string[] = [];
    const dialled = await connectionsMadeBy(() => (shown = plugin.preview!(request)));
    assert.equal(dialled, 0, 'preview connected to something');
    assert.ok(shown.length > 0, 'preview shows nothing');
    const text = shown.join('\n');
    assert.ok(text.includes(username), 'preview does not show the user name');
    if (credential.type === 'password')
      assert.ok(text.includes(secret), 'preview does not show the sample password where it would be sent');
    assert.doesNotMatch(text, /\{\{\w+\}\}/, 'preview leaves a placeholder');
    await fixture.refuses(user, 'preview created a user');
    if (plugin.supports.statements === 'sql') {
      const missing = {
        ...request,
        statements: { commands: [...creation, `SELECT '{{${credential.type === 'password' ? 'subject' : 'password'}}}'`] },
      };
      assert.throws(() => plugin.preview!(missing), isStatementInvalid, 'preview must refuse what createUser refuses');
      assert.throws(() => plugin.preview!({ ...request, statements: { commands: [' '] } }), isStatementInvalid);
    }
    await fixture.session(async (session) => {
      await fixture.create(session, user);
      await fixture.accepts(user, 'what was previewed cannot be created');
      await fixture.delete(session, username);
    });
  },

  async 'the identity names the server, and no secret'(fixture) {
    const { plugin } = fixture.options;
    if (!plugin.identify)
      return fixture.leaveOut('the identity names the server, and no secret', 'the plugin does not identify connections');
    const config = filled(plugin.connection, await fixture.config());
    const { system } = plugin.identify(config);
    assert.ok(typeof system === 'string' && /^[a-z][a-z0-9+.-]*:\S+$/.test(system), `${system} does not name a server, such as x://host:1`);
    for (const secret of Object.values(connectionSecrets(plugin.connection, config)))
      assert.ok(!system.includes(secret), 'the identity holds a secret');
    const other = await fixture.wrongConfig();
    assert.equal(plugin.identify(filled(plugin.connection, other)).system, system, 'another password does not make another server');
    if (!plugin.canonicalUser) return;
    const called = (username: string): string => plugin.canonicalUser!({ username, statements: { commands: [] } }, config);
    assert.equal(called('vkit_one'), called('vkit_one'));
    assert.notEqual(called('vkit_one'), called('vkit_two'), 'two users have one name');
  },

  async 'a refused login is distinguished from a server that is out of reach'(fixture) {
    const why = async (config: Static<TObject>): Promise<unknown> =>
      fixture.session(async (session) => session.verify(deadline()).then(() => 'accepted', loginFailureOf), config);
    const refused = await why(await fixture.wrongConfig());
    if (refused === undefined)
      return fixture.leaveOut(
        'a refused login is distinguished from a server that is out of reach',
        'the plugin does not say why a login failed',
      );
    assert.equal(refused, 'credential', 'a wrong password is the credential that is refused');
  },

  async 'disableUser takes the login away'(fixture) {
    await fixture.withUser(async (session, user) => {
      const { username } = user;
      if (!session.disableUser) return fixture.leaveOut('disableUser takes the login away', 'the session cannot take a login away');
      await fixture.accepts(user, 'a created user cannot log in');
      await session.disableUser({ username, signal: deadline() });
      await fixture.refuses(user, 'a disabled user can log in');
      await session.disableUser({ username, signal: deadline() });
      await session.disableUser({ username: (await fixture.newUser()).username, signal: deadline() });
      await fixture.delete(session, username);
      await fixture.refuses(user, 'a deleted user can log in');
      await session.disableUser({ username, signal: deadline() });
    });
  },

  async 'two passwords log in until the replaced one ends, where a user may have two'(fixture) {
    const name = 'two passwords log in until the replaced one ends, where a user may have two';
    await fixture.withUser(async (session, user) => {
      const { twoPasswords } = session;
      if (user.credential.type !== 'password') return fixture.leaveOut(name, NO_PASSWORD);
      if (!twoPasswords) return fixture.leaveOut(name, 'the session gives a user one password');
      if (!(await twoPasswords.supported(deadline()))) return fixture.leaveOut(name, 'the server gives a user one password');
      const { username, credential: first } = user;
      const [second, third] = [await fixture.newUser(username), await fixture.newUser(username)];
      await twoPasswords.add({ username, credential: second.credential, signal: deadline() });
      await fixture.accepts(second, 'a password that was added does not log in');
      await fixture.accepts(user, 'the password before does not log in beside the one that was added');
      await twoPasswords.add({ username, credential: third.credential, current: second.credential, signal: deadline() });
      for (const good of [second, third]) await fixture.accepts(good, 'the last two passwords do not both log in');
      await fixture.refuses(user, 'a password that was to end logs in');
      const end = { username, credential: third.credential };
      await twoPasswords.end({ ...end, ends: second.credential, signal: deadline() });
      await fixture.refuses(second, 'a password that has ended logs in');
      await fixture.accepts(third, 'the password that stays does not log in');
      await twoPasswords.end({ ...end, ends: second.credential, signal: deadline() });
      await twoPasswords.add({ username, credential: first, signal: deadline() });
      await twoPasswords.end({ username, credential: first, signal: deadline() });
      await fixture.refuses(third, 'a password that nobody names logs in after all but one have ended');
      await fixture.accepts(user, 'the password that stays does not log in');
      const absent = await fixture.newUser();
      await assert.rejects(twoPasswords.add({ ...absent, signal: deadline() }), 'a password is added to a user that is not there');
      await twoPasswords.end({ ...absent, signal: deadline() });
    });
  },

  async 'a user changes its own password, where the plugin lets it'(fixture) {
    const name = 'a user changes its own password, where the plugin lets it';
    if (fixture.options.plugin.supports.selfManaged !== true) return fixture.leaveOut(name, 'users do not change their own passwords');
    await fixture.withUser(async (_manager, user) => {
      if (user.credential.type !== 'password') return fixture.leaveOut(name, NO_PASSWORD);
      const { username, credential: current, secret: password } = user;
      const next = await fixture.newUser(username);
      await fixture.session(
        async (session) =>
          session.changeOwnPassword!({ username, current, credential: next.credential, statements: { commands: [] }, signal: deadline() }),
        { ...(await fixture.config()), username, password },
      );
      await fixture.accepts(next, 'the password that a user has given itself does not log in');
      await fixture.refuses(user, 'the password that a user has replaced logs in');
    });
  },

  async 'listUsers names a created user, and no deleted one'(fixture) {
    await fixture.session(async (session) => {
      if (!session.listUsers) return fixture.leaveOut('listUsers names a created user, and no deleted one', 'the session lists no users');
      const names = async (prefix: string): Promise<readonly string[]> => await session.listUsers!({ prefix, signal: deadline() });
      const [user, other] = [await fixture.newUser(), await fixture.newUser()];
      await fixture.create(session, user);
      await fixture.create(session, other);
      assert.deepEqual(await names(user.username), [user.username], 'a prefix chooses the users whose names begin so');
      assert.deepEqual((await names('vkit')).filter((name) => [user, other].some(({ username }) => username === name)).length, 2);
      for (const { username } of [user, other]) assert.ok((await names('')).includes(username), 'without a prefix every user is listed');
      for (const wildcard of [`%${user.username.slice(1)}`, `_${user.username.slice(1)}`, `${user.username.slice(0, -1)}*`, "'", '\\']) {
        assert.deepEqual(await names(wildcard), [], 'a prefix is text, not a pattern');
      }
      await assert.rejects(session.listUsers({ prefix: '', signal: AbortSignal.abort(new Error('too late')) }), /too late/);
      await fixture.delete(session, user.username);
      assert.deepEqual(await names(user.username), [], 'a deleted user is listed');
      await fixture.delete(session, other.username);
    });
  },

  async 'pool counts connections, within its limit'(fixture) {
    await fixture.session(async (session) => {
      if (!session.pool) return fixture.leaveOut('pool counts connections, within its limit', 'the session tells nothing of a pool');
      const { open, idle, waiting, limit } = look(session);
      assert.deepEqual({ open, idle, waiting }, { open: 0, idle: 0, waiting: 0 }, 'a session that has not connected has no connections');
      await session.verify(deadline());
      assert.ok(look(session).open > 0 && look(session).waiting === 0, 'after verify a connection is open and no call waits');
      await watchBusyPool(fixture, session, Math.min(limit + SURPLUS, MOST_CALLS));
      assert.equal(look(session).waiting, 0, 'no call waits when none is under way');
    });
  },
};

function filled(schema: TObject, config: Static<TObject>): Static<TObject> {
  const settings = structuredClone(config);
  new Ajv({ strict: false, useDefaults: true, coerceTypes: true }).validate(schema, settings);
  return settings;
}

/** Every snapshot is a possible state of a pool. */
function look(session: DatabaseSession): PoolStatus {
  const status = session.pool!();
  const { open, idle, waiting, limit } = status;
  for (const count of [open, idle, waiting, limit]) assert.ok(Number.isInteger(count) && count >= 0, `${count} is no number of things`);
  assert.ok(limit > 0 && open <= limit && idle <= open, `${idle} idle of ${open} open connections, of at most ${limit}`);
  return status;
}

async function watchBusyPool(fixture: Fixture<TObject>, session: DatabaseSession, calls: number): Promise<void> {
  const users = await Promise.all(Array.from({ length: calls }, () => fixture.newUser()));
  let running = true;
  let busy = false;
  const creating = Promise.allSettled(users.map((user) => fixture.create(session, user))).finally(() => (running = false));
  while (running) {
    const { open, idle, waiting } = look(session);
    busy ||= open > idle || waiting > 0;
    await nextTurn();
  }
  const outcomes = await creating;
  await Promise.all(users.map(({ username }) => fixture.delete(session, username)));
  for (const outcome of outcomes) assert.equal(outcome.status, 'fulfilled', 'a call that waited for a connection failed');
  assert.ok(busy, `${calls} calls at once, and the pool looked idle all the time`);
}

const isStatementInvalid = (error: unknown): boolean => isDatabaseError(error, 'statement_invalid');
