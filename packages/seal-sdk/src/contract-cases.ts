import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { AAD, failsWith, keyId, unwrap, wrap, type ContractFixture } from './contract-fixture.ts';
import { FAILURE_CODES, type SealFailure } from './seal-contract.ts';

export interface ContractCase {
  readonly title: string;
  run(fixture: ContractFixture): Promise<void>;
}

const wrapping: readonly ContractCase[] = [
  {
    title: 'what was wrapped opens again, whatever its length from 1 byte to 4 KiB',
    async run(fixture) {
      const session = await fixture.open();
      for (const length of [1, 16, 32, 33, 255, 4_096]) {
        const plain = randomBytes(length);
        const { blob } = await wrap(session, plain);
        deepEqual(Buffer.from(await unwrap(session, blob)), plain, `${length} bytes`);
        ok(!Buffer.from(blob).includes(plain) || length < 4, 'the blob shows what was wrapped');
      }
    },
  },
  {
    title: 'another session opens it, as after a restart',
    async run(fixture) {
      const first = await fixture.open();
      const { blob } = await wrap(first, Buffer.from('a key'));
      await first.close();
      equal(Buffer.from(await unwrap(await fixture.open(), blob)).toString(), 'a key');
    },
  },
  {
    title: 'many calls at once answer each with its own',
    async run(fixture) {
      const session = await fixture.open();
      const plains = Array.from({ length: 16 }, () => randomBytes(32));
      const blobs = await Promise.all(plains.map((plain) => wrap(session, plain)));
      const opened = await Promise.all(blobs.map(({ blob }) => unwrap(session, blob)));
      deepEqual(
        opened.map((each) => Buffer.from(each)),
        plains,
      );
    },
  },
  {
    title: 'other associated data does not open it',
    async run(fixture) {
      const session = await fixture.open();
      const { blob } = await wrap(session, randomBytes(32));
      await failsWith('seal_wrong_key', unwrap(session, blob, Buffer.from('core/other')));
      await failsWith('seal_wrong_key', unwrap(session, blob, new Uint8Array()));
    },
  },
  {
    title: 'a damaged, a cut and an empty blob do not open',
    async run(fixture) {
      const session = await fixture.open();
      const { blob } = await wrap(session, randomBytes(32));
      const damaged = Buffer.from(blob);
      damaged[damaged.length - 1]! ^= 1;
      for (const each of [damaged, blob.subarray(0, blob.length - 8), new Uint8Array()])
        await failsWith('seal_wrong_key', unwrap(session, each));
    },
  },
  {
    title: 'another key does not open it',
    async run(fixture) {
      const { blob } = await wrap(await fixture.open(), randomBytes(32));
      await failsWith('seal_wrong_key', unwrap(await fixture.open(fixture.world.otherKey), blob));
    },
  },
];

const versions: readonly ContractCase[] = [
  {
    title: 'the key id is stable, and that of what is wrapped',
    async run(fixture) {
      const session = await fixture.open();
      const id = await keyId(session);
      ok(id.length > 0 && id.length <= 1_024, 'the key id is a text of at most 1,024 characters');
      equal(await keyId(await fixture.open()), id);
      equal((await wrap(session, AAD)).keyId, id);
    },
  },
  {
    title: 'after a rotation the key id is another, and what the earlier version wrapped still opens',
    async run(fixture) {
      const before = await fixture.open();
      const old = await wrap(before, Buffer.from('a key'));
      const session = await fixture.open(await fixture.world.rotate());
      const id = await keyId(session);
      notEqual(id, old.keyId);
      const { blob, keyId: used } = await wrap(session, Buffer.from('a key'));
      equal(used, id);
      for (const each of [old.blob, blob]) equal(Buffer.from(await unwrap(session, each)).toString(), 'a key');
    },
  },
  {
    title: 'a session that was open while the key was rotated uses the new version',
    async run(fixture) {
      const session = await fixture.open();
      const old = await keyId(session);
      await fixture.world.rotate();
      const { keyId: used } = await wrap(session, Buffer.from('a key'));
      notEqual(used, old);
      equal(await keyId(session), used);
    },
  },
];

function failureCase(how: SealFailure, title: string): ContractCase {
  return {
    title,
    async run(fixture) {
      const session = await fixture.open();
      const { blob } = await wrap(session, Buffer.from('a key'));
      const recover = await fixture.world.fail(how);
      const calls = { wrap: wrap(session, AAD), unwrap: unwrap(session, blob) };
      for (const call of Object.values(calls)) {
        const { message } = await failsWith(FAILURE_CODES[how], call);
        for (const [key, { kind }] of Object.entries(fixture.plugin.settings)) {
          const value = fixture.world.block[key];
          if ((kind === 'secret' || kind === 'key') && value !== undefined) ok(!message.includes(value), `the message shows ${key}`);
        }
      }
      await recover();
      equal(Buffer.from(await unwrap(session, blob)).toString(), 'a key');
      await wrap(session, AAD);
    },
  };
}

const failures: readonly ContractCase[] = [
  failureCase('away', 'a service that is away is unavailable, and the same session works once it is back'),
  failureCase('permission', 'a permission that was lost is named as such, and the same session works once it is granted again'),
  failureCase('throttled', 'a service that asks for a pause is named as such, and the same session works afterwards'),
  {
    title: 'a session opens while the service is away',
    async run(fixture) {
      const { blob } = await wrap(await fixture.open(), Buffer.from('a key'));
      const recover = await fixture.world.fail('away');
      const session = await fixture.open();
      await failsWith('seal_unavailable', unwrap(session, blob));
      await recover();
      equal(Buffer.from(await unwrap(session, blob)).toString(), 'a key');
    },
  },
];

const lifetime: readonly ContractCase[] = [
  {
    title: 'the declaration says what operators and the host need',
    async run({ plugin }) {
      ok(/^[a-z][a-z0-9_-]*$/.test(plugin.name), 'the name is in lower case');
      equal(plugin.kind, 'seal');
      equal(plugin.apiVersion, 2);
      ok(plugin.title.length > 0, 'there is a title');
      const ofHost = ['name', 'priority', 'disabled', 'purpose', 'health_check_enabled', 'health_check_interval'];
      for (const [key, { summary, env, required, default: otherwise }] of Object.entries(plugin.settings)) {
        ok(/^[a-z][a-z0-9_]*$/.test(key) && !ofHost.includes(key), `${key} can be a key of the block`);
        ok(/^[A-Z0-9].*\.$/s.test(summary), `the summary of ${key} is a sentence`);
        ok(
          env.every((name) => /^[A-Z][A-Z0-9_]*$/.test(name)),
          `the environment variables of ${key} are names`,
        );
        ok(!(required && otherwise !== undefined), `${key} is required, so its default never counts`);
      }
    },
  },
  {
    title: 'an aborted signal ends a call at once, with its reason',
    async run(fixture) {
      const session = await fixture.open();
      const reason = new Error('the deadline has passed');
      const signal = AbortSignal.abort(reason);
      const same = (error: unknown): boolean => error === reason;
      await rejects(session.wrap({ plain: AAD, aad: AAD, signal }), same);
      await rejects(session.unwrap({ blob: AAD, aad: AAD, signal }), same);
      await rejects(session.keyId({ signal }), same);
      await unwrap(session, (await wrap(session, AAD)).blob);
    },
  },
  {
    title: 'a closed session refuses every call, and may be closed again',
    async run(fixture) {
      const session = await fixture.open();
      const { blob } = await wrap(session, AAD);
      await session.close();
      await session.close();
      await failsWith('seal_closed', wrap(session, AAD));
      await failsWith('seal_closed', unwrap(session, blob));
      await failsWith('seal_closed', keyId(session));
    },
  },
];

/** Every case, in the order in which they run. */
export const CONTRACT_CASES: readonly ContractCase[] = [...lifetime, ...wrapping, ...versions, ...failures];
