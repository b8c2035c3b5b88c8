import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { dieAtCall } from './die-at-call.ts';
import { startLdapCutter, type LdapCutter, type Loss } from './ldap-cutter.ts';
import { dataOf, DirectoryView, SVC } from './ldap-mount.ts';

/** More commits, and more calls of the directory, than any of these operations makes: the last rounds of each run through. */
const COMMITS = [0, 1, 2, 3, 4];
const CALLS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].flatMap((call): [number, Loss][] => [
  [call, 'request'],
  [call, 'answer'],
]);

const dn = `uid=svc1,${SVC}`;
const role = { username: 'svc1', dn, rotation_period: '24h', password: 'in-use-today' };

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('a server that dies while an account changes its own password', () => {
  let slapd: Slapd;
  let cutter: LdapCutter;
  let view: DirectoryView;
  let server: KillableMount;

  beforeAll(async () => {
    slapd = await startSlapd({ config: 'access to * by self write by anonymous auth by * none' });
    cutter = await startLdapCutter(slapd.port);
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await cutter.stop();
    await slapd.stop();
  });
  beforeEach(async () => {
    await view.setPassword(dn, 'in-use-today');
    server = await killableMount(ldapSecrets, { path: 'ldap' });
    await server.write('config', { url: cutter.url, self_managed: true });
  });
  afterEach(async () => {
    cutter.shut();
    cutter.open();
    await server.close();
  });

  /** Dies after this number of commits of the work, or runs through. */
  const dieAfterCommits = async (commits: number, work: () => Promise<unknown>): Promise<boolean> => {
    server.storage.dieAfter(commits);
    const died = await server.diesIn(work());
    server = await server.restart();
    return died;
  };
  const dieAt = async (call: number, loss: Loss, work: () => Promise<unknown>): Promise<boolean> => {
    const died = await dieAtCall({ server, cutter }, [call, loss], work);
    server = await server.restart();
    return died;
  };
  const password = async (): Promise<string> => dataOf<{ password: string }>(await server.read('static-cred/app')).password;
  /** The password that is answered logs in, and is changed again: nothing was lost. */
  const expectGood = async (): Promise<void> => {
    expect(await view.takes(dn, await password())).toBe(true);
    await server.pass(240);
    const settled = await password();
    expect(await view.takes(dn, settled)).toBe(true);
    const { status } = dataOf<{ status: object }>(await server.read('static-role/app'));
    expect(status).toMatchObject({ state: 'waiting' });
    expect((await server.ask('update', 'ldap/rotate-role/app')).status).toBe(204);
    const next = await password();
    expect([next === settled, await view.takes(dn, next)]).toEqual([false, true]);
  };

  describe('in a rotation', () => {
    beforeEach(async () => {
      await server.write('static-role/app', role);
    });
    const rotate = async () => server.ask('update', 'ldap/rotate-role/app');

    test.each(COMMITS)('after %i commits: the password that is answered logs in, at once and later', async (commits) => {
      expect(await dieAfterCommits(commits, rotate)).toBe(commits < 2);
      await expectGood();
    });

    test.each(CALLS)(
      'at call %i of the directory (%s lost): the password that is answered logs in, at once and later',
      async (call, loss) => {
        const died = await dieAt(call, loss, rotate);
        if (call < 3) expect(died).toBe(true);
        await expectGood();
      },
    );
  });

  describe('in the creation of a role', () => {
    const create = async () => server.ask('update', 'ldap/static-role/app', role);
    const expectKnown = async (): Promise<void> => {
      if ((await server.ask('read', 'ldap/static-role/app')).status === 404) expect(await view.takes(dn, 'in-use-today')).toBe(true);
      else await expectGood();
    };

    test.each(COMMITS)('after %i commits: it is stored and goes on, or nothing has happened', async (commits) => {
      expect(await dieAfterCommits(commits, create)).toBe(commits < 3);
      await expectKnown();
    });

    test.each(CALLS)('at call %i of the directory (%s lost): it is stored and goes on, or nothing has happened', async (call, loss) => {
      const died = await dieAt(call, loss, create);
      if (call < 5) expect(died).toBe(true);
      await expectKnown();
    });
  });

  describe('in a write of the password that was set outside', () => {
    beforeEach(async () => {
      await server.write('static-role/app', role);
      await view.setPassword(dn, 'set-outside');
      // Failing by now, and tried again.
      await server.ask('update', 'ldap/rotate-role/app');
    });
    const send = async () => server.ask('update', 'ldap/static-role/app', { password: 'set-outside' });

    test.each([0, 1, 2])('after %i commits: it is stored, or can be sent again', async (commits) => {
      expect(await dieAfterCommits(commits, send)).toBe(commits < 1);
      if (commits < 1) expect((await send()).status).toBe(204);
      await expectGood();
    });

    test.each(
      [0, 1, 2, 3].flatMap((call): [number, Loss][] => [
        [call, 'request'],
        [call, 'answer'],
      ]),
    )('at call %i of the directory (%s lost): it is stored, or can be sent again', async (call, loss) => {
      await dieAt(call, loss, send);
      if (!(await view.takes(dn, await password()))) expect((await send()).status).toBe(204);
      await expectGood();
    });
  });
});
