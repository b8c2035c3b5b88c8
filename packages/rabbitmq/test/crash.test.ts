import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { type CallCutter, describeWithRabbitmq, type Loss, startCallCutter, startRabbitmq, type RabbitmqServer } from '@strongroom/lab';
import { rabbitmqEngine } from '../src/index.ts';
import { connectionTo, dataOf, EVERYTHING } from './rabbitmq-mount.ts';

jest.setTimeout(60_000);

/** More commits, and more calls, than any of these operations makes: the last rounds of each run through. */
const COMMITS = [0, 1, 2, 3, 4];
const CALLS = [0, 1, 2, 3].flatMap((call): [number, Loss][] => [
  [call, 'request'],
  [call, 'answer'],
]);

const MANAGER = { username: 'manager', password: 'manager-first' };

describeWithRabbitmq('a server that dies in the middle', () => {
  let broker: RabbitmqServer;
  let cutter: CallCutter;
  let server: KillableMount;

  beforeAll(async () => {
    broker = await startRabbitmq();
    cutter = await startCallCutter(broker.port);
  });
  afterAll(async () => {
    await cutter?.stop();
    await broker?.stop();
  });
  beforeEach(async () => {
    cutter.open();
    await broker.api('PUT', 'users/manager', { password: MANAGER.password, tags: 'administrator' });
    await broker.api('PUT', 'users/app', { password: 'app-first', tags: 'monitoring' });
    server = await killableMount(rabbitmqEngine, { path: 'rabbitmq' });
    await server.write('config/connection', { ...connectionTo(broker), ...MANAGER, connection_uri: cutter.url });
    await server.write('roles/app', { vhosts: EVERYTHING, vhost_topics: JSON.stringify({ '/': { 'amq.topic': { read: '.*' } } }) });
  });
  afterEach(async () => {
    cutter.open();
    await server.close();
    for (const name of await broker.users()) await broker.api('DELETE', `users/${name}`);
  });

  const dieAfterCommits = async (commits: number, work: () => Promise<unknown>): Promise<void> => {
    server.storage.dieAfter(commits);
    await server.diesIn(work());
    server = await server.restart();
  };
  const dieAtCall = async (call: number, loss: Loss, work: () => Promise<unknown>): Promise<void> => {
    let lost = false;
    cutter.cutAt(call, loss, () => {
      lost = true;
      server.storage.die();
    });
    const running = work();
    await Promise.race([server.storage.noticed, running]);
    // The dead touch nothing: what still runs of the process has to come to its end before the next one begins.
    if (lost) await Promise.race([server.storage.noticed, running]);
    cutter.open();
    server = await server.restart();
  };
  /** In steps shorter than the deadline of a call. */
  const pass = async (seconds: number): Promise<void> => server.pass(seconds, 9);
  const made = async (): Promise<string[]> => (await broker.users()).filter((name) => name !== 'manager' && name !== 'app');
  const leases = async (): Promise<string[]> =>
    ((await server.ask('list', 'sys/leases/lookup/rabbitmq/creds/app')).data as { keys: string[] } | null)?.keys ?? [];
  const takes = async (username: string, password: string): Promise<boolean> => {
    const { body } = await broker.api('GET', 'whoami', undefined, [username, password]);
    return (body as { reason?: string }).reason !== 'Login failed';
  };

  describe('while a user is created', () => {
    const create = async () => server.ask('read', 'rabbitmq/creds/app');
    const expectNoOrphan = async (): Promise<void> => {
      await pass(240);
      expect(await made()).toHaveLength((await leases()).length);
      expect((await server.ask('read', 'sys/journal')).data).toMatchObject({ intents: [] });
    };

    test.each(COMMITS)('after %i commits: every user has a lease', async (commits) => {
      await dieAfterCommits(commits, create);
      await expectNoOrphan();
    });
    test.each(CALLS)('at call %i, whose %s is lost: every user has a lease', async (call, loss) => {
      await dieAtCall(call, loss, create);
      await expectNoOrphan();
    });
  });

  describe('while a user is deleted', () => {
    const revoke = async () =>
      server.ask('update', 'sys/leases/revoke', { lease_id: `rabbitmq/creds/app/${(await leases())[0]}`, sync: true });

    test.each([0, 1, 2])('after %i commits: it is gone in the end, with its lease', async (commits) => {
      await server.read('creds/app');
      await dieAfterCommits(commits, revoke);
      await revoke();
      await pass(60);
      expect([await made(), await leases()]).toEqual([[], []]);
    });
    test.each(CALLS.slice(0, 2))('at call %i, whose %s is lost: it is gone in the end, with its lease', async (call, loss) => {
      await server.read('creds/app');
      await dieAtCall(call, loss, revoke);
      await revoke();
      await pass(60);
      expect([await made(), await leases()]).toEqual([[], []]);
    });
  });

  describe('while a static role is made', () => {
    const create = async () => server.ask('update', 'rabbitmq/static-roles/app', { username: 'app', rotation_period: '24h' });
    /** Whichever of them it is, somebody knows the password. */
    const expectKnown = async (): Promise<void> => {
      await pass(240);
      const { status, data } = await server.ask('read', 'rabbitmq/static-creds/app');
      expect(await takes('app', status === 200 ? (data as { password: string }).password : 'app-first')).toBe(true);
      expect((await create()).errors).toBeUndefined();
      expect(await takes('app', dataOf<{ password: string }>(await server.read('static-creds/app')).password)).toBe(true);
    };

    test.each(COMMITS)('after %i commits: the password is in static-creds, or where it was', async (commits) => {
      await dieAfterCommits(commits, create);
      await expectKnown();
    });
    test.each(CALLS)('at call %i, whose %s is lost: the password is in static-creds, or where it was', async (call, loss) => {
      await dieAtCall(call, loss, create);
      await expectKnown();
    });
  });

  describe('while orphans are removed', () => {
    const remove = async () => server.ask('update', 'rabbitmq/orphans', { all: true });
    beforeEach(async () => {
      // Users that a restored store has never seen.
      for (let count = 0; count < 2; count += 1) {
        const { username } = dataOf<{ username: string }>(await server.write('roles/app/preview'));
        await broker.api('PUT', `users/${username}`, { password: 'x', tags: '' });
      }
      await server.read('creds/app');
      expect(dataOf<{ usernames: string[] }>(await server.read('orphans')).usernames).toHaveLength(2);
    });
    /** They are gone in the end, and nobody else. */
    const expectRemoved = async (): Promise<void> => {
      await pass(240);
      expect((await remove()).status).toBe(200);
      expect(dataOf(await server.read('orphans'))).toEqual({ usernames: [] });
      expect([await made(), await leases()]).toEqual([[expect.any(String)], [expect.any(String)]]);
    };

    test.each([0, 1])('after %i commits: they are gone in the end, and nobody else', async (commits) => {
      await dieAfterCommits(commits, remove);
      await expectRemoved();
    });
    test.each(CALLS)('at call %i, whose %s is lost: they are gone in the end, and nobody else', async (call, loss) => {
      await dieAtCall(call, loss, remove);
      await expectRemoved();
    });
  });

  describe('while the password of a static role is rotated', () => {
    const rotate = async () => server.ask('update', 'rabbitmq/rotate-role/app');
    const expectGood = async (): Promise<void> => {
      for (const seconds of [0, 240]) {
        if (seconds > 0) await pass(seconds);
        const { password } = dataOf<{ password: string }>(await server.read('static-creds/app'));
        expect(await takes('app', password)).toBe(true);
      }
      const { status } = dataOf<{ status: object }>(await server.read('static-roles/app'));
      expect(status).toMatchObject({ state: 'waiting', last_error: null });
      expect((await broker.api('GET', 'users/app')).body).toMatchObject({ tags: ['monitoring'] });
    };
    beforeEach(async () => {
      await server.write('static-roles/app', { username: 'app', rotation_period: '24h' });
    });

    test.each(COMMITS)('after %i commits: static-creds has the password that is taken', async (commits) => {
      await dieAfterCommits(commits, rotate);
      await expectGood();
    });
    test.each(CALLS)('at call %i, whose %s is lost: static-creds has the password that is taken', async (call, loss) => {
      await dieAtCall(call, loss, rotate);
      await expectGood();
    });
  });

  describe('while the password of the managing user is rotated', () => {
    const rotate = async () => server.ask('update', 'rabbitmq/rotate-root');
    const expectGood = async (): Promise<void> => {
      for (const seconds of [0, 240]) {
        if (seconds > 0) await pass(seconds);
        const { status, errors } = await server.ask('read', 'rabbitmq/creds/app');
        expect({ status, errors }).toEqual({ status: 200 });
      }
      expect(dataOf<{ root_rotation: object }>(await server.read('config/connection')).root_rotation).toMatchObject({
        state: 'idle',
        last_error: null,
      });
    };

    test.each(COMMITS)('after %i commits: the mount logs in', async (commits) => {
      await dieAfterCommits(commits, rotate);
      await expectGood();
    });
    test.each(CALLS)('at call %i, whose %s is lost: the mount logs in', async (call, loss) => {
      await dieAtCall(call, loss, rotate);
      await expectGood();
    });
  });
});
