import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { type Credential, isDatabaseError } from '@strongroom/database-sdk';
import type { TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';
import { deadline, type Fixture, HOUR_MS, token, type User } from './fixture.ts';

export const PLACEHOLDER = /\{\{(name|username|password|expiration)\}\}/;
const NONSENSE = 'BOGUS nonsense that no database understands';
/** What may end a quote or a statement, in one language or another. */
const BREAKERS = [`'`, `"`, '`', ']', `\\'`, `\\"`, `''`, '$$', '*/', '\n', ''];

export const statementCases: Cases<TObject> = {
  async 'placeholders are substituted'(fixture) {
    const { creation } = fixture.options;
    const swapped = creation.map((statement) =>
      statement.replace(/\{\{(name|username)\}\}/g, (_, key: string) => (key === 'name' ? '{{username}}' : '{{name}}')),
    );
    await fixture.session(async (session) => {
      const user = await fixture.newUser();
      await fixture.create(session, user, { statements: swapped });
      await fixture.accepts(user, '{{name}} and {{username}} are both the user name');
      await fixture.refuses({ username: '{{name}}', secret: '{{password}}' }, 'a placeholder reached the database');
      await fixture.delete(session, user.username);
    });
  },

  async 'a quote, backslash or semicolon in a display name cannot break out of a statement'(fixture) {
    await fixture.session(async (session) => {
      for (const breaker of BREAKERS) {
        const evil = await fixture.newUser();
        const smuggled = renderPlainly(fixture.options.creation, evil).join('; ');
        const hostile = await fixture.newUser(`h${token()}${breaker}; ${smuggled}; -- `);
        await fixture.create(session, hostile).catch(() => undefined);
        await fixture.refuses(evil, `a display name with ${JSON.stringify(breaker)} created another user`);
        await fixture.delete(session, hostile.username).catch(() => undefined);
        await fixture.refuses(evil, `deleting a user whose name holds ${JSON.stringify(breaker)} created another`);
        await fixture.delete(session, evil.username);
      }
      const spaced = await fixture.newUser(`o'b "q" \\ ${token()}`);
      const created = await fixture.create(session, spaced).then(
        () => true,
        () => false,
      );
      if (created) await fixture.accepts(spaced, 'a user whose name was accepted must exist under exactly this name');
      await fixture.delete(session, spaced.username).catch(() => undefined);
      await fixture.refuses(spaced, 'a user with an odd name must not survive deleteUser');
    });
  },

  async 'a quote, backslash or semicolon in a password works or is refused'(fixture) {
    await fixture.session(async (session) => {
      for (const password of [
        `a'b${token()}`,
        `a"b${token()}`,
        `a\\b${token()}\\`,
        `a;b--${token()}`,
        `a\`b$$c{}?:${token()}`,
        `{{name}}${token()}`,
      ]) {
        const user: User = { username: `vkit${token()}`, credential: { type: 'password', password }, secret: password };
        const created = await fixture.create(session, user).then(
          () => true,
          () => false,
        );
        if (created) await fixture.accepts(user, 'a user must have exactly the password that was accepted');
        await fixture.delete(session, user.username);
      }
    });
  },

  async 'a failing statement leaves no user'(fixture) {
    await fixture.session(async (session) => {
      const user = await fixture.newUser();
      await assert.rejects(fixture.create(session, user, { statements: failing(fixture) }), (error) => isDatabaseError(error));
      await fixture.refuses(user, 'creation failed, but its user can log in');
    });
  },

  async 'rollback runs after a half-made user'(fixture) {
    await fixture.session(async (session) => {
      const user = await fixture.newUser();
      // Another user with the same credential, so that every other placeholder is the plugin's to replace.
      const trace = { ...user, username: (await fixture.newUser()).username };
      const rollback = fixture.options.creation.map((statement) => statement.replace(/\{\{(?:name|username)\}\}/g, trace.username));
      await assert.rejects(fixture.create(session, user, { statements: failing(fixture), rollback }), (error) => isDatabaseError(error));
      await fixture.refuses(user, 'creation failed, but its user can log in');
      await fixture.accepts(trace, 'the rollback statements did not run');
      await fixture.delete(session, trace.username);
    });
  },

  async 'a credential that is not supported is refused'(fixture) {
    const { supports } = fixture.options.plugin;
    const all: Credential[] = [
      { type: 'password', password: token() },
      { type: 'rsa_private_key', publicKey: '-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n' },
      { type: 'client_certificate', subject: 'CN=x' },
    ];
    await fixture.session(async (session) => {
      for (const credential of all.filter(({ type }) => !supports.credentials.includes(type))) {
        const creating = fixture.create(session, { username: `vkit${token()}`, credential, secret: '' });
        await assert.rejects(creating, (error) => isDatabaseError(error, 'credential_unsupported'));
      }
    });
  },

  async 'no error text contains the root or user password'(fixture) {
    const secrets: string[] = [];
    const errors: unknown[] = [];
    const keep = (error: unknown): void => void errors.push(error);
    const good = await fixture.config();
    const wrong = await fixture.wrongConfig();
    for (const config of [good, wrong]) if (typeof config.password === 'string') secrets.push(config.password);
    await fixture.session(async (session) => {
      const user = await fixture.newUser();
      secrets.push(user.secret);
      for (const statements of [failing(fixture), [`${NONSENSE} '{{password}}'`], [`"{{password}}" ${NONSENSE}`]]) {
        await fixture.create(session, user, { statements, rollback: [`${NONSENSE} '{{password}}'`] }).catch(keep);
      }
      await session.updateUser({ ...user, statements: { commands: [`${NONSENSE} '{{password}}'`] }, signal: deadline() }).catch(keep);
      await fixture.delete(session, user.username);
    });
    await fixture.session((session) => session.verify(deadline()).catch(keep), wrong);
    assert.ok(errors.length > 0, 'nothing failed, so nothing was proven');
    for (const error of errors) {
      const text = inspect(error, { depth: 10, showHidden: true });
      for (const secret of secrets) assert.ok(!text.includes(secret), 'an error shows a password');
    }
    for (const line of fixture.host.logged) for (const secret of secrets) assert.ok(!line.includes(secret), 'the log shows a password');
  },
};

function failing({ options: { failing: given, creation } }: Fixture<TObject>): readonly string[] {
  return given ?? [...creation, NONSENSE];
}

/** As a careless program would do it. */
function renderPlainly(statements: readonly string[], { username, secret }: User): string[] {
  const expiration = new Date(Date.now() + HOUR_MS).toISOString().slice(0, 19).replace('T', ' ') + '+0000';
  return statements.map((statement) =>
    statement
      .replaceAll('{{name}}', username)
      .replaceAll('{{username}}', username)
      .replaceAll('{{password}}', secret)
      .replaceAll('{{expiration}}', expiration),
  );
}
