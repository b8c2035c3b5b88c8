import assert from 'node:assert/strict';
import type { DestinationSession, Throttled } from '@strongroom/sync-sdk';
import type { TObject } from 'typebox';
import type { Cases } from './case-bodies.ts';
import { rejects, STRICT, token, type Fixture } from './fixture.ts';

export const failureCases: Cases<TObject, TObject> = {
  async 'open does not connect'(fixture) {
    const requests = fixture.outsideCan('requests');
    const before = await requests();
    const session = await fixture.open();
    assert.equal(await requests(), before, 'open sends requests');
    await session.close();
    const lost = await fixture.open(await fixture.require('unreachable')(await fixture.config()));
    await lost.close();
  },

  async 'wrong credentials are a ClientSideError with the code of the provider'(fixture) {
    const wrong = await fixture.require('wrongCredentials')(await fixture.config());
    await fixture.session(async (session) => {
      const error = await rejects<Error & { providerCode?: string }>(
        'client_side',
        fixture.put(session, await fixture.name(), 'one'),
        'a put with wrong credentials succeeds',
      );
      assert.ok(error.providerCode, 'the code of the provider is missing');
    }, wrong);
  },

  async 'throttling is Throttled, with the pause asked for'(fixture) {
    const fail = fixture.outsideCan('fail');
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fail('throttled');
      const error = await rejects<Throttled>('throttled', fixture.put(session, name, 'one'), 'a throttled put succeeds');
      const asked = fixture.options.outside.asksForNoPause === true ? undefined : 7;
      assert.equal(error.retryAfterSeconds, asked, 'the pause in seconds that the provider asks for');
    });
  },

  async 'a failing provider is an ExternalServiceError, and nothing is tried twice'(fixture) {
    const fail = fixture.outsideCan('fail');
    const requests = fixture.outsideCan('requests');
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fixture.read(session, name);
      await fail('failing');
      const before = await requests();
      await rejects('external_service', fixture.read(session, name), 'a read from a failing provider succeeds');
      assert.equal(Number(await requests()) - Number(before), 1, 'a failed request is tried again by the plugin');
    });
  },

  async 'an unreachable provider is an ExternalServiceError'(fixture) {
    const unreachable = await fixture.require('unreachable')(await fixture.config());
    await fixture.session(async (session) => {
      await rejects('external_service', fixture.read(session, await fixture.name()), 'a read from nowhere succeeds');
    }, unreachable);
  },

  async 'an address that is not allowed is AddressRefused'(fixture) {
    await fixture.session(
      async (session) => {
        await rejects('address_refused', fixture.read(session, await fixture.name()), 'the guard of the host is not used');
        await rejects('address_refused', fixture.put(session, await fixture.name(), 'one'), 'the guard of the host is not used');
      },
      undefined,
      STRICT,
    );
  },

  /** The provider does not answer as long as the call is there: a call that waits for it never ends. */
  async 'an aborted signal rejects promptly'(fixture) {
    const fail = fixture.outsideCan('fail');
    await fixture.session(async (session) => {
      const name = await fixture.name();
      await fail('hanging');
      const reason = new Error('the deadline of the case');
      const controller = new AbortController();
      const call = fixture.put(session, name, 'one', { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 50);
      await assert.rejects(call, (error) => error === reason || (error as Error).cause === reason, 'the reason of the signal is lost');
    });
  },

  async 'no error text holds a value or a credential'(fixture) {
    const value = `value-${token()}${token()}`;
    const secrets = new Set([value, ...fixture.secretsIn(await fixture.config())]);
    const texts: string[] = [];
    const failing = async (session: DestinationSession): Promise<void> => {
      const name = await fixture.name();
      for (const call of [() => fixture.put(session, name, value), () => fixture.read(session, name)]) {
        await call().catch((error: unknown) => texts.push(wholeText(error)));
      }
    };
    for (const change of ['wrongCredentials', 'unreachable'] as const) {
      const changed = await fixture.options[change]?.(await fixture.config());
      if (changed === undefined) continue;
      for (const secret of fixture.secretsIn(changed)) secrets.add(secret);
      await fixture.session(failing, changed);
    }
    for (const how of ['throttled', 'failing'] as const) {
      await fixture.session(async (session) => {
        await fixture.options.outside.fail?.(how);
        await failing(session);
      });
    }
    assert.ok(texts.length > 0, 'nothing failed, so nothing was shown');
    for (const secret of secrets) {
      assert.ok(!texts.some((text) => text.includes(secret)), 'an error text holds a secret');
      assert.ok(!fixture.logged.some((line) => line.includes(secret)), 'the log holds a secret');
    }
  },

  async 'close twice is fine, later calls reject with SessionClosed'(fixture) {
    const session = await fixture.open();
    await session.close();
    await session.close();
    await closed(fixture, session);
  },
};

async function closed(fixture: Fixture<TObject, TObject>, session: DestinationSession): Promise<void> {
  const current = { name: 'kit' };
  await rejects('session_closed', fixture.read(session, 'kit'), 'a closed session reads');
  await rejects('session_closed', fixture.put(session, 'kit', 'one'), 'a closed session writes');
  await rejects('session_closed', fixture.remove(session, 'kit', current), 'a closed session removes');
  await rejects('session_closed', fixture.list(session), 'a closed session lists');
}

/** The message, and those of its causes: what ends up in logs. */
function wholeText(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error && texts.length < 8; at = at.cause) texts.push(at.message);
  return texts.join(' | ');
}
