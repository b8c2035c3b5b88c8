import assert from 'node:assert/strict';
import { isDatabaseError, type DatabaseSession } from '@strongroom/database-sdk';
import type { TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';
import { connectionsMadeBy } from './dialling.ts';
import { deadline, type Fixture } from './fixture.ts';

/** How soon "promptly" is. */
const PROMPT_MS = 2000;
/** A moment for the statement to reach the server before the signal is aborted. */
const UNDERWAY_MS = 300;
/** Every connection of a pool may have to fail once before it is replaced. */
const RECONNECT_ATTEMPTS = 8;

export const connectionCases: Cases<TObject> = {
  async 'open does not dial'(fixture) {
    const config = await fixture.config();
    const dialled = await connectionsMadeBy(() => fixture.session(async () => undefined, config));
    assert.equal(dialled, 0, 'open connected to something; verify is the one to do that');
  },

  async 'verify accepts good credentials'(fixture) {
    await fixture.session((session) => session.verify(deadline()));
  },

  async 'verify refuses bad credentials'(fixture) {
    const config = await fixture.wrongConfig();
    await fixture.session(async (session) => {
      await assert.rejects(session.verify(deadline()), isCode('verification_failed'));
    }, config);
  },

  async 'an aborted signal rejects promptly'(fixture) {
    const { slow } = fixture.options;
    assert.ok(slow, 'give `slow`, creation statements that take half a minute, or skip this case with a reason');
    await fixture.session(async (session) => {
      const early = await fixture.newUser();
      const gone = AbortSignal.abort(new Error('too late'));
      await assert.rejects(fixture.create(session, early, { signal: gone }), /too late/);
      await assert.rejects(fixture.delete(session, early.username, gone), /too late/);
      await assert.rejects(session.verify(gone), /too late/);
      await fixture.refuses(early, 'a call whose signal was aborted before it began must not do anything');

      const user = await fixture.newUser();
      const controller = new AbortController();
      const creating = fixture.create(session, user, { statements: slow, signal: controller.signal });
      const first = await Promise.race([creating.then(() => 'created', String), after(UNDERWAY_MS, 'under way')]);
      assert.equal(first, 'under way', 'the `slow` statements must take longer');
      controller.abort(new Error('deadline passed'));
      const outcome = await Promise.race([
        creating.then(
          () => 'created',
          (error: unknown) => error,
        ),
        after(PROMPT_MS, 'still waiting'),
      ]);
      assert.equal(outcome, controller.signal.reason, 'the call must reject with the reason of its signal');

      await session.verify(deadline());
      await fixture.delete(session, user.username);
      await fixture.refuses(user, 'deleteUser must clean up after an aborted creation');
    });
  },

  async 'after the server drops, the next call reconnects or fails with ConnectionLost'(fixture) {
    const { restart } = fixture.options;
    assert.ok(restart, 'give `restart`, or skip this case with a reason');
    await fixture.withUser(async (session, user) => {
      await session.verify(deadline());
      await restart();
      await eventually(fixture, session, user.username);
      const next = await fixture.newUser();
      await fixture.create(session, next);
      await fixture.accepts(next, 'the session works again after a restart of the server');
      await fixture.delete(session, next.username);
    });
  },

  async 'close twice is fine, later calls reject'(fixture) {
    const session = await fixture.open();
    await session.verify(deadline());
    await session.close();
    await session.close();
    const user = await fixture.newUser();
    await assert.rejects(session.verify(deadline()), isCode('session_closed'));
    await assert.rejects(fixture.create(session, user), isCode('session_closed'));
    await assert.rejects(fixture.update(session, user), isCode('session_closed'));
    await assert.rejects(fixture.delete(session, user.username), isCode('session_closed'));
    if (session.listUsers) await assert.rejects(session.listUsers({ prefix: '', signal: deadline() }), isCode('session_closed'));
    const unused = await fixture.open();
    await unused.close();
  },
};

const isCode = (code: Parameters<typeof isDatabaseError>[1]) => (error: unknown) => {
  assert.ok(isDatabaseError(error, code), `expected an error with code ${code}, got ${String(error)}`);
  return true;
};

async function eventually(fixture: Fixture<TObject>, session: DatabaseSession, username: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fixture.delete(session, username);
    } catch (error) {
      isCode('connection_lost')(error);
      assert.ok(attempt < RECONNECT_ATTEMPTS, 'the session does not connect again');
    }
  }
}

function after<T>(milliseconds: number, value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, value).unref());
}
