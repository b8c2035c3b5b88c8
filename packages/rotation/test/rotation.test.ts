import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { accountsEngine, Outside, type Fate } from './outside.ts';

interface Shown {
  password?: string;
  previous?: string;
  doubtful?: boolean;
  taken_over?: string;
  next: number;
  status: {
    state: string;
    login?: string;
    managed_by?: string;
    attempts: number;
    last_error: { message: string } | null;
    next_attempt: string | null;
    last_success: string | null;
  };
}

describe('a credential that is rotated', () => {
  let outside: Outside;
  let server: KillableMount;
  const shown = async (name = 'a'): Promise<Shown> => (await server.read(`account/${name}`)).data as Shown;
  /** What the engine answers is what the outside takes, and nobody doubts it. */
  const expectGood = async (name = 'a'): Promise<string> => {
    const { password, doubtful } = await shown(name);
    expect(outside.passwords.get(name)).toBe(password);
    expect(doubtful).toBe(false);
    return password!;
  };
  beforeEach(async () => {
    outside = new Outside();
    server = await killableMount(accountsEngine(outside));
  });
  afterEach(async () => server.close());

  test('is rotated at creation, by its period, and on demand; the previous one is kept where the engine asks for it', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    const first = await expectGood();
    await server.advance('1h');
    const second = await expectGood();
    expect(second).not.toBe(first);
    expect((await shown()).previous).toBe(first);
    await server.advance('10m');
    await server.write('rotate/a');
    expect((await shown()).previous).toBe(second);
    await server.advance('55m');
    expect(outside.changes).toBe(3);
    await server.advance('5m');
    expect(outside.changes).toBe(4);
    expect((await shown()).status).toMatchObject({ state: 'waiting', attempts: 0, last_error: null });
  });

  test('a try that a request asked for names the request, and one of the schedule names none', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    outside.down = true;
    const { requestId } = await server.call('update', 'accounts/rotate/a');
    await server.advance('10m');
    const [job] = ((await server.call('read', 'sys/schedule')).data as { jobs: { tries: { request_id?: string }[] }[] }).jobs;
    const [asked, scheduled] = job!.tries;
    expect([asked!.request_id, scheduled!.request_id]).toEqual([requestId, undefined]);
  });

  test('with disable_automated_rotation it is rotated on demand alone, and is idle in between', async () => {
    await server.write('account/a', { disable_automated_rotation: true });
    await server.advance('5d');
    expect(outside.changes).toBe(1);
    expect((await shown()).status).toMatchObject({ state: 'idle', next_attempt: null });
    await server.write('rotate/a');
    expect(outside.changes).toBe(2);
    await server.write('account/a', { rotation_period: '1h', disable_automated_rotation: false });
    await server.advance('1h');
    expect(outside.changes).toBe(3);
    await server.write('account/a', { disable_automated_rotation: true });
    await server.advance('5d');
    expect(outside.changes).toBe(3);
  });

  test('with first_rotation_offset the second rotation comes after the offset, and the others after the period', async () => {
    await server.write('account/a', { rotation_period: '1h', first_rotation_offset: '7m' });
    await server.advance('7m');
    expect(outside.changes).toBe(2);
    await server.advance('59m');
    expect(outside.changes).toBe(2);
    await server.advance('1m');
    expect(outside.changes).toBe(3);
  });

  test('an adopted one has no credential until its plan brings the first rotation', async () => {
    await server.write('account/a', { imported: true, rotation_period: '1h' });
    expect(await shown()).not.toHaveProperty('password');
    await server.advance('1h');
    await expectGood();
  });

  test('creation that is refused, by the check or from outside, leaves nothing', async () => {
    expect((await server.ask('update', 'accounts/account/forbidden', { rotation_period: '1h' })).status).toBe(400);
    expect((await server.ask('read', 'accounts/account/forbidden')).status).toBe(404);
    outside.fates.push('refused');
    expect((await server.ask('update', 'accounts/account/a', { rotation_period: '1h' })).status).toBe(500);
    expect((await server.ask('read', 'accounts/account/a')).status).toBe(404);
    await server.advance('2h');
    expect(outside.changes).toBe(0);
  });

  test.each<Fate>(['lost before', 'lost after'])(
    'creation whose answer is lost (%s) loses no credential: it is through if the new one is taken, and is finished later if not',
    async (fate) => {
      outside.fates.push(fate);
      const { status } = await server.ask('update', 'accounts/account/a', { rotation_period: '1h' });
      expect(status).toBe(fate === 'lost after' ? 204 : 500);
      if (fate === 'lost before') expect((await shown()).status.state).toBe('unsettled');
      await server.pass(60);
      await expectGood();
      expect(outside.changes).toBe(1);
      expect((await shown()).status).toMatchObject({ state: 'waiting', last_error: null });
    },
  );

  test('creation whose answer is lost and that cannot be tried is kept until it can', async () => {
    outside.fates.push('lost after');
    outside.trusting = true;
    expect((await server.ask('update', 'accounts/account/a', { rotation_period: '1h' })).status).toBe(500);
    outside.trusting = false;
    await server.pass(60);
    await expectGood();
    expect(outside.changes).toBe(1);
  });

  test('creation of unknown outcome that is asked for again keeps its candidate, also while the outside is down', async () => {
    outside.fates.push('lost with all');
    expect((await server.ask('update', 'accounts/account/a', { rotation_period: '1h' })).status).toBe(500);
    expect((await server.ask('update', 'accounts/account/a', { rotation_period: '2h' })).status).toBe(500);
    expect((await shown()).status.state).toBe('unsettled');
    const other = await server.ask('update', 'accounts/account/a', { rotation_period: '2h', of: 'another' });
    expect([other.status, other.errors!.join()]).toEqual([400, expect.stringContaining('was begun for something else (itself)')]);
    outside.down = false;
    expect((await server.ask('update', 'accounts/account/a', { rotation_period: '2h' })).status).toBe(204);
    await expectGood();
    expect(outside.changes).toBe(1);
  });

  test('creation of which a part was refused after the credential was changed is kept, with a warning', async () => {
    outside.fates.push('half refused');
    const { status, warnings } = await server.ask('update', 'accounts/account/a', { rotation_period: '1h' });
    expect([status, warnings!.join()]).toEqual([
      200,
      'the credential was changed and is stored, but not all went well: the outside refuses',
    ]);
    await expectGood();
    expect((await shown()).status.last_error).toMatchObject({ message: 'the outside refuses' });
  });

  test('a change that is acknowledged but not made keeps the credential that works, and says so', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    const before = await expectGood();
    outside.fates.push('acknowledged only');
    const { status, errors } = await server.ask('update', 'accounts/rotate/a');
    expect([status, errors!.join()]).toEqual([
      500,
      expect.stringContaining('outside: the change was acknowledged, but the old credential is still the one that is taken'),
    ]);
    expect(await expectGood()).toBe(before);
    expect((await shown()).status).toMatchObject({
      state: 'failed',
      last_error: { message: expect.stringContaining('the old credential') },
    });
    await server.pass(60);
    expect(await expectGood()).not.toBe(before);
  });

  test('a change that is acknowledged and comes into force late loses nothing: the new credential is kept and answered once it is accepted', async () => {
    await server.write('account/a', { disable_automated_rotation: true });
    const before = await expectGood();
    outside.fates.push('late');
    expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
    expect(await expectGood()).toBe(before);
    outside.arrive();
    expect(await expectGood()).not.toBe(before);
    await server.pass(60);
    expect(await expectGood()).not.toBe(before);
    expect(outside.changes).toBe(2);
    expect((await shown()).status).toMatchObject({ state: 'idle', last_error: null });
  });

  test('a creation that is acknowledged but not made is no success: it is kept, says that the login was refused, and is finished once it can be', async () => {
    outside.fates.push('acknowledged only', 'acknowledged only', 'acknowledged only');
    const { status, errors } = await server.ask('update', 'accounts/account/a', { rotation_period: '1h' });
    expect([status, errors!.join()]).toEqual([500, expect.stringContaining('acknowledged, but the new credential is not taken')]);
    expect(await shown()).not.toHaveProperty('password');
    expect((await shown()).status).toMatchObject({ state: 'unsettled', login: 'refused' });
    await server.pass(600);
    await expectGood();
    expect((await shown()).status).toMatchObject({ state: 'waiting', last_error: null });
  });

  test('a change that is acknowledged and cannot be tried keeps both credentials, says so, and is proven later without another change', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    outside.fates.push('done and gone');
    const { status, errors } = await server.ask('update', 'accounts/rotate/a');
    expect([status, errors!.join()]).toEqual([
      500,
      expect.stringContaining('acknowledged, but the new credential could not be tried: the outside is gone'),
    ]);
    expect(await shown()).toMatchObject({ doubtful: true, status: { state: 'unsettled', login: 'unreachable' } });
    outside.down = false;
    await server.pass(60);
    await expectGood();
    expect(outside.changes).toBe(2);
    expect((await shown()).status).toMatchObject({ state: 'waiting' });
  });

  test('the status tells a login that is refused from one that is out of reach and from one that was not tried', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    expect((await shown()).status).not.toHaveProperty('login');
    outside.fates.push('unsent');
    await server.ask('update', 'accounts/rotate/a');
    expect((await shown()).status.login).toBe('not_tried');
    outside.fates.push('lost before');
    await server.ask('update', 'accounts/rotate/a');
    outside.down = true;
    await server.pass(60);
    expect((await shown()).status.login).toBe('unreachable');
    outside.down = false;
    outside.passwords.set('a', 'changed by somebody else');
    outside.fates.push('acknowledged only', 'acknowledged only', 'acknowledged only', 'acknowledged only');
    await server.pass(300);
    expect((await shown()).status).toMatchObject({ state: 'failing', login: 'refused' });
    await server.pass(3_600, 300);
    await expectGood();
    outside.trusting = true;
    await server.write('rotate/a');
    expect((await shown()).status.login).toBe('inconclusive');
  });

  describe('whose account has another manager', () => {
    const made = { rotation_period: '1h', of: 'ann' };
    const refusal = '"ann" is already managed by the secrets engine: account "a" of this mount changes its password; ';

    test('is refused with a sentence that names the other, at creation and when it is imported', async () => {
      await server.write('account/a', made);
      for (const sent of [made, { ...made, imported: true }]) {
        const { status, errors } = await server.ask('update', 'accounts/account/b', sent);
        expect([status, errors!.join()]).toEqual([400, expect.stringContaining(refusal)]);
        expect((await server.ask('read', 'accounts/account/b')).status).toBe(404);
      }
    });

    test('takes it over with adopt, and the other one stops, says so, and takes it back by adopt', async () => {
      await server.write('account/a', made);
      expect((await server.ask('update', 'accounts/account/b', { ...made, adopt: true })).status).toBe(204);
      const { changes } = outside;
      expect(await shown('a')).toMatchObject({
        taken_over: expect.stringContaining('"ann" is managed by account "b" of this mount now'),
        status: { state: 'taken_over', managed_by: 'account "b" of this mount' },
      });
      expect((await server.ask('update', 'accounts/rotate/a')).errors!.join()).toContain('account "b" of this mount changes its password');
      await server.advance('1h');
      // That of "b" alone.
      expect(outside.changes).toBe(changes + 1);
      await server.advance('3h');
      expect((await shown('a')).status).toMatchObject({ state: 'taken_over', next_attempt: null });
      expect((await server.ask('update', 'accounts/account/a', { rotation_period: '2h', adopt: true })).status).toBe(204);
      await server.pass(60);
      expect((await shown('b')).status.state).toBe('taken_over');
      expect((await shown('a')).status).toMatchObject({ state: 'waiting', last_error: null });
    });

    test('is free again when the other one is deleted, or was never stored', async () => {
      await server.write('account/a', made);
      await server.delete('account/a');
      outside.fates.push('refused');
      expect((await server.ask('update', 'accounts/account/b', made)).status).toBe(500);
      expect((await server.ask('update', 'accounts/account/c', made)).status).toBe(204);
    });

    test('and was made before there was a registry claims it at its first rotation, and the second one of such says who was faster', async () => {
      await server.close();
      let known = false;
      server = await killableMount(accountsEngine(outside, { identified: () => known }));
      await server.write('account/a', { ...made, rotation_period: '2h' });
      await server.write('account/b', made);
      known = true;
      await server.advance('1h');
      expect((await shown('b')).status).toMatchObject({ state: 'waiting', attempts: 0 });
      await server.advance('1h');
      expect((await shown('a')).status.last_error!.message).toContain('account "b" of this mount changes its password');
    });
  });

  test('a rotation of which a part was refused says so, in the answer and in the status, until one goes well', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    outside.fates.push('half refused');
    const { warnings } = await server.ask('update', 'accounts/rotate/a');
    expect(warnings!.join()).toContain('not all went well: the outside refuses');
    await expectGood();
    outside.fates.push('half refused');
    await server.advance('1h');
    expect((await shown()).status.last_error).toMatchObject({ message: 'the outside refuses' });
    await expectGood();
    await server.advance('1h');
    expect((await shown()).status.last_error).toBe(null);
  });

  test('a rotation of what is deleted meanwhile does not pass for done', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    outside.meanwhile = async () => void (await server.ask('delete', 'accounts/account/a'));
    expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
  });

  test('several rotations at a time are one', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    const answers = await Promise.all(Array.from({ length: 5 }, async () => server.ask('update', 'accounts/rotate/a')));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect(outside.changes).toBe(2);
  });

  test.each<[Fate, boolean]>([
    ['lost before', false],
    ['lost after', true],
  ])('when the answer is lost (%s) the right credential is answered at once, and the rotation is finished later', async (fate, changed) => {
    await server.write('account/a', { rotation_period: '1h' });
    const before = await expectGood();
    outside.fates.push(fate);
    expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
    expect((await expectGood()) !== before).toBe(changed);
    expect((await shown()).status.state).toBe('unsettled');
    await server.pass(60);
    expect(await expectGood()).not.toBe(before);
    expect((await shown()).status).toMatchObject({ state: 'waiting', last_error: null });
    expect(outside.changes).toBe(2);
  });

  test('while the outside is down after a lost answer the credential is answered with doubt, and none is dropped', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    outside.fates.push('lost after');
    await server.ask('update', 'accounts/rotate/a');
    outside.down = true;
    expect((await shown()).doubtful).toBe(true);
    await server.pass(7_200, 60);
    expect((await shown()).status).toMatchObject({ state: 'failing' });
    outside.down = false;
    await server.pass(3_600, 60);
    await expectGood();
  });

  test('what is refused keeps the previous credential, says why, and is tried again by the plan', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    const before = await expectGood();
    outside.fates.push('refused');
    expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
    expect(await expectGood()).toBe(before);
    expect((await shown()).status).toMatchObject({ state: 'failed', last_error: { message: 'the outside refuses' } });
    await server.pass(60);
    expect(await expectGood()).not.toBe(before);
    expect((await shown()).status).toMatchObject({ state: 'waiting', last_error: null });
  });

  describe.each([
    ['a period', { rotation_period: '240h' }],
    ['a schedule with a window', { rotation_schedule: '0 0 1 1 *', rotation_window: '1h' }],
    ['no plan', { disable_automated_rotation: true }],
  ])('asked for with %s', (_plan, plan) => {
    test.each<Fate>(['unsent', 'refused'])('a rotation that is %s is tried again until it is through', async (fate) => {
      await server.write('account/a', plan);
      const before = await expectGood();
      outside.fates.push(fate);
      expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
      expect(await expectGood()).toBe(before);
      const { status } = await shown();
      expect(status).toMatchObject({ state: 'failed', last_error: { message: expect.stringContaining('the outside') } });
      expect(Date.parse(status.next_attempt!)).toBe(server.clock.millis() + 10_000);
      await server.pass(60);
      expect(await expectGood()).not.toBe(before);
      expect(outside.changes).toBe(2);
      expect((await shown()).status).toMatchObject({ attempts: 0, last_error: null });
    });

    test('a rotation while the outside is away for hours is tried ever more rarely, and made once it is back', async () => {
      await server.write('account/a', plan);
      const { next } = await shown();
      const before = await expectGood();
      outside.down = true;
      expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
      await server.pass(60);
      const early = (await shown()).status;
      expect(early).toMatchObject({ state: 'failing', last_error: { message: 'the outside is gone' } });
      await server.pass(3 * 3_600, 60);
      const late = (await shown()).status;
      expect(late.attempts).toBeGreaterThan(early.attempts);
      expect(late.attempts).toBeLessThan(80);
      expect((await shown()).next).toBe(next);
      outside.down = false;
      await server.pass(600);
      expect(await expectGood()).not.toBe(before);
      expect(outside.changes).toBe(2);
      const planned = (await shown()).next;
      expect((await shown()).status).toMatchObject({ state: planned === 0 ? 'idle' : 'waiting', attempts: 0, last_error: null });
    });

    test('a rotation that cannot be made as it was asked for is not tried again', async () => {
      await server.write('account/a', plan);
      const { next, status } = await shown();
      const before = await expectGood();
      outside.fates.push('misused');
      expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(400);
      expect((await shown()).status).toMatchObject({ state: 'failed', next_attempt: status.next_attempt });
      await server.pass(3_600, 300);
      expect(await expectGood()).toBe(before);
      expect((await shown()).next).toBe(next);
    });

    test.each([0, 1, 2, 3])(
      'a rotation that is unsent by a process that dies after %i commits is made by the next one',
      async (commits) => {
        await server.write('account/a', plan);
        const before = await expectGood();
        outside.fates.push('unsent');
        server.storage.dieAfter(commits);
        await server.diesIn(server.ask('update', 'accounts/rotate/a'));
        server = await server.restart();
        outside.fates.length = 0;
        await server.pass(300);
        expect((await expectGood()) !== before).toBe(commits > 0);
      },
    );
  });

  test('what was asked for in vain before stays asked for', async () => {
    await server.write('account/a', { disable_automated_rotation: true });
    outside.down = true;
    await server.ask('update', 'accounts/rotate/a');
    outside.down = false;
    outside.fates.push('misused');
    expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(400);
    await server.pass(60);
    expect(outside.changes).toBe(2);
  });

  test('what was asked for is made whatever becomes of the plan meanwhile', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    for (const plan of [{ rotation_period: '240h' }, { disable_automated_rotation: true }]) {
      const { changes } = outside;
      outside.fates.push('unsent');
      await server.ask('update', 'accounts/rotate/a');
      await server.write('account/a', plan);
      await server.pass(60);
      expect(outside.changes).toBe(changes + 1);
      await expectGood();
    }
    expect((await shown()).status).toMatchObject({ state: 'idle', last_error: null });
  });

  test('what is demanded in a transaction is made in the background', async () => {
    await server.write('account/a', { disable_automated_rotation: true });
    outside.down = true;
    await server.write('demand/a');
    await server.pass(600);
    expect((await shown()).status.attempts).toBeGreaterThan(0);
    outside.down = false;
    await server.pass(600);
    expect(outside.changes).toBe(2);
    expect((await shown()).status).toMatchObject({ state: 'idle', last_error: null });
  });

  test('where any login is taken, a change of unknown outcome is made again with the same candidate', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    outside.trusting = true;
    outside.fates.push('lost before');
    await server.ask('update', 'accounts/rotate/a');
    expect((await shown()).doubtful).toBe(true);
    await server.pass(60);
    outside.trusting = false;
    await expectGood();
  });

  test('an update counts a period from the last rotation, and leaves work under way alone', async () => {
    await server.write('account/a', { rotation_period: '10h' });
    await server.advance('2h');
    await server.write('account/a', { rotation_period: '3h' });
    await server.advance('1h');
    expect(outside.changes).toBe(2);
    outside.fates.push('lost before');
    await server.ask('update', 'accounts/rotate/a');
    await server.write('account/a', { rotation_period: '8h' });
    await server.pass(60);
    expect(outside.changes).toBe(3);
    await expectGood();
  });

  test('a deleted one is not rotated any more', async () => {
    await server.write('account/a', { rotation_period: '1h' });
    await server.delete('account/a');
    await server.advance('3h');
    expect(outside.changes).toBe(1);
  });

  test('a thousand that fall due together are all rotated', async () => {
    for (let i = 0; i < 1_000; i += 1) await server.write(`account/n${i}`, { rotation_period: '1h' });
    await server.pass(3_660);
    expect(outside.changes).toBe(2_000);
  }, 60_000);

  describe.each([0, 1, 2, 3])('when the process dies after %i commits', (commits) => {
    test.each<Fate>(['done', 'lost before', 'lost after', 'refused', 'unsent'])(
      'of a rotation that is %s, no credential is lost',
      async (fate) => {
        await server.write('account/a', { rotation_period: '24h' });
        outside.fates.push(fate);
        server.storage.dieAfter(commits);
        await server.diesIn(server.ask('update', 'accounts/rotate/a'));
        server = await server.restart();
        outside.fates.length = 0;
        await expectGood();
        await server.pass(300);
        await expectGood();
        expect((await shown()).status).toMatchObject({ state: 'waiting', attempts: 0, last_error: null });
        await server.write('rotate/a');
        expect((await shown()).status).toMatchObject({ state: 'waiting', last_error: null });
        await expectGood();
      },
    );

    test('of a creation, it is whole or not there', async () => {
      server.storage.dieAfter(commits);
      const died = await server.diesIn(server.ask('update', 'accounts/account/a', { rotation_period: '24h' }));
      server = await server.restart();
      await server.pass(300);
      const there = (await server.ask('read', 'accounts/account/a')).status === 200;
      expect(there).toBe(!died || commits > 0);
      if (there) await expectGood();
    });
  });
});

describe('a credential that changes itself', () => {
  let outside: Outside;
  let server: KillableMount;
  const shown = async (): Promise<Shown> => (await server.read('account/a')).data as Shown;
  beforeEach(async () => {
    outside = new Outside();
    server = await killableMount(accountsEngine(outside, { ofItself: true }));
    await server.write('account/a', { disable_automated_rotation: true });
  });
  afterEach(async () => server.close());

  test('is not forgotten when the new one is acknowledged but not taken', async () => {
    const before = (await shown()).password;
    outside.fates.push('acknowledged only');
    expect((await server.ask('update', 'accounts/rotate/a')).status).toBe(500);
    expect(await shown()).toMatchObject({ password: before, doubtful: false, status: { state: 'failed' } });
    expect((await shown()).status.last_error!.message).toContain('the old credential is still the one that is taken');
  });

  test('is promoted after a lost answer without a second change', async () => {
    outside.fates.push('lost after');
    await server.ask('update', 'accounts/rotate/a');
    await server.pass(60);
    expect(outside.changes).toBe(2);
    expect((await shown()).password).toBe(outside.passwords.get('a'));
    expect((await shown()).status).toMatchObject({ state: 'idle', last_error: null });
  });

  test('while nothing can be tried, the status does not say that a credential is refused', async () => {
    outside.fates.push('lost with all');
    await server.ask('update', 'accounts/rotate/a');
    await server.pass(300);
    expect((await shown()).status).toMatchObject({
      state: 'failing',
      login: 'unreachable',
      last_error: { message: expect.stringContaining('neither the old nor the new credential could be tried: the outside is gone') },
    });
    outside.down = false;
    await server.pass(600);
    expect((await shown()).status).toMatchObject({ state: 'idle' });
  });

  test('when neither is taken both are kept, and the trouble shows', async () => {
    outside.fates.push('lost before');
    await server.ask('update', 'accounts/rotate/a');
    const before = (await shown()).password!;
    outside.passwords.set('a', 'changed by somebody else');
    await server.pass(600);
    expect((await shown()).status.state).toBe('failing');
    expect((await shown()).status.last_error!.message).toContain('neither the old nor the new credential is taken');
    outside.passwords.set('a', before);
    await server.pass(7_200, 300);
    expect((await shown()).password).toBe(outside.passwords.get('a'));
    expect((await shown()).status).toMatchObject({ state: 'idle' });
  });
});
