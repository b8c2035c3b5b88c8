import assert from 'node:assert/strict';
import type { TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';
import { deadline, HOUR_MS } from './fixture.ts';
import { renderUsername } from './user-name.ts';

const CONCURRENT = 20;

export const lifecycleCases: Cases<TObject> = {
  async 'a created user logs in'(fixture) {
    await fixture.withUser((_, user) => fixture.accepts(user, 'a created user cannot log in'));
  },

  async 'its name obeys the template and the length limit'(fixture) {
    const { usernameTemplate, usernameMaxLength } = fixture.options.plugin;
    const long = 'abcdefghij'.repeat(20);
    const names = [
      renderUsername(usernameTemplate, { DisplayName: 'token', RoleName: 'app' }),
      renderUsername(usernameTemplate, { DisplayName: long, RoleName: long }),
    ];
    assert.notEqual(
      names[0],
      renderUsername(usernameTemplate, { DisplayName: 'token', RoleName: 'app' }),
      'the template makes the same name twice',
    );
    for (const name of names) {
      if (usernameMaxLength !== undefined) assert.ok(name.length <= usernameMaxLength, `${name} is longer than ${usernameMaxLength}`);
      await fixture.session(async (session) => {
        const user = await fixture.newUser(name);
        await fixture.create(session, user);
        await fixture.accepts(user, `a user named as the template says (${name}) cannot log in`);
        await fixture.delete(session, name);
        await fixture.refuses(user, `a user named as the template says (${name}) survives deleteUser`);
      });
    }
  },

  async '20 concurrent creates never collide'(fixture) {
    await fixture.session(async (session) => {
      const users = await Promise.all(Array.from({ length: CONCURRENT }, () => fixture.newUser()));
      await Promise.all(users.map((user) => fixture.create(session, user)));
      for (const user of users) await fixture.accepts(user, 'one of several users created at once cannot log in');
      await Promise.all(users.map(({ username }) => fixture.delete(session, username)));
      for (const user of users) await fixture.refuses(user, 'one of several users deleted at once can log in');
    });
  },

  async 'updateUser lets the new credential in and the old one not'(fixture) {
    await fixture.withUser(async (session, user) => {
      const next = { ...user, ...(await fixture.newCredential(user.username)) };
      await fixture.update(session, next);
      await fixture.accepts(next, 'the new credential is refused');
      await fixture.refuses(user, 'the old credential still works');
    });
  },

  async 'native expiry refuses an expired user, and renewUser extends'(fixture) {
    await fixture.session(async (session) => {
      assert.ok(session.renewUser, 'a database with native expiry needs renewUser');
      const user = await fixture.newUser();
      await fixture.create(session, user, { expiresAt: new Date(Date.now() - HOUR_MS) });
      await fixture.refuses(user, 'a user that has expired can log in; does `creation` use {{expiration}}?');
      const expiresAt = new Date(Date.now() + HOUR_MS);
      await session.renewUser({ username: user.username, expiresAt, statements: { commands: [] }, signal: deadline() });
      await fixture.accepts(user, 'a renewed user cannot log in');
      await fixture.delete(session, user.username);
    });
  },

  async 'renewUser may be absent, and does no harm where it is not'(fixture) {
    await fixture.withUser(async (session, user) => {
      const expiresAt = new Date(Date.now() + HOUR_MS);
      await session.renewUser?.({ username: user.username, expiresAt, statements: { commands: [] }, signal: deadline() });
      await fixture.accepts(user, 'renewing keeps the user');
    });
  },

  async 'deleteUser refuses later logins'(fixture) {
    await fixture.withUser(async (session, user) => {
      await fixture.accepts(user, 'a created user cannot log in');
      await fixture.delete(session, user.username);
      await fixture.refuses(user, 'a deleted user can log in');
    });
  },

  async 'deleting twice succeeds'(fixture) {
    await fixture.withUser(async (session, user) => {
      await fixture.delete(session, user.username);
      await fixture.delete(session, user.username);
      await fixture.delete(session, (await fixture.newUser()).username);
    });
  },
};
