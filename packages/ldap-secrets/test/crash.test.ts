import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import { ldapSecrets } from '../src/index.ts';
import { dieAtCall } from './die-at-call.ts';
import { startLdapCutter, type LdapCutter, type Loss } from './ldap-cutter.ts';
import { configFor, dataOf, DirectoryView, managerDn, managerPassword, SVC, withManager } from './ldap-mount.ts';

/** More commits, and more calls of the directory, than any of these operations makes: the last rounds of each run through. */
const COMMITS = [0, 1, 2, 3, 4, 5, 6];
const CALLS = [0, 1, 2, 3, 4, 5, 6].flatMap((call): [number, Loss][] => [
  [call, 'request'],
  [call, 'answer'],
]);

const creation_ldif = `dn: uid={{.Username}},${SVC}
objectClass: inetOrgPerson
uid: {{.Username}}
cn: {{.Username}}
sn: x
userPassword: {{.Password}}

dn: cn=made,ou=groups,dc=example,dc=org
changetype: modify
add: member
member: uid={{.Username}},${SVC}
`;
const deletion_ldif = `dn: cn=made,ou=groups,dc=example,dc=org
changetype: modify
delete: member
member: uid={{.Username}},${SVC}

dn: uid={{.Username}},${SVC}
changetype: delete
`;
const group = `dn: cn=made,ou=groups,dc=example,dc=org\nobjectClass: groupOfNames\ncn: made\nmember: cn=nobody\n`;

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describeWithSlapd('a server that dies in the middle', () => {
  let slapd: Slapd;
  let cutter: LdapCutter;
  let view: DirectoryView;
  let server: KillableMount;

  beforeAll(async () => {
    slapd = await startSlapd({ ...withManager, ldif: `${withManager.ldif}\n${group}` });
    cutter = await startLdapCutter(slapd.port);
    view = new DirectoryView(slapd);
  });
  afterAll(async () => {
    view.close();
    await cutter.stop();
    await slapd.stop();
  });
  beforeEach(async () => {
    await view.setPassword(managerDn, managerPassword);
    server = await killableMount(ldapSecrets, { path: 'ldap' });
    await server.write('config', configFor(cutter));
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
  const dynamicAccounts = async (): Promise<string[]> => (await view.below(SVC, '(uid=v_*)')).map(({ dn }) => dn);
  const members = async (): Promise<string[]> => (await view.entry('cn=made,ou=groups,dc=example,dc=org'))!.values('member');
  const leasesOf = async (path: string): Promise<string[]> => {
    const { data } = await server.ask('list', `sys/leases/lookup/ldap/${path}`);
    return (data as { keys: string[] } | null)?.keys ?? [];
  };

  describe('while the password of binddn is rotated', () => {
    const rotate = async () => server.ask('update', 'ldap/rotate-root');
    const expectGood = async (): Promise<void> => {
      const answer = await server.ask('update', 'ldap/static-role/probe', { username: 'svc9', rotation_period: '24h' });
      expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 204 });
      await server.delete('static-role/probe');
    };
    const expectSettled = async (): Promise<void> => {
      const { root_rotation } = dataOf<{ root_rotation: object }>(await server.read('config'));
      expect(root_rotation).toMatchObject({ state: 'idle', last_error: null });
    };

    test.each(COMMITS)('after %i commits: the mount logs in, at once and later', async (commits) => {
      expect(await dieAfterCommits(commits, rotate)).toBe(commits < 3);
      await expectGood();
      await server.pass(240);
      await expectGood();
      await expectSettled();
    });

    test.each(CALLS)('at call %i of the directory (%s lost): the mount logs in, at once and later', async (call, loss) => {
      expect(await dieAt(call, loss, rotate)).toBe(call < 4);
      await expectGood();
      await server.pass(240);
      await expectGood();
      await expectSettled();
    });
  });

  describe('while a static role is rotated', () => {
    beforeEach(async () => {
      await server.write('static-role/st', { username: 'svc1', rotation_period: '24h' });
    });
    const rotate = async () => server.ask('update', 'ldap/rotate-role/st');
    const expectGood = async (): Promise<string> => {
      const { password } = dataOf<{ password: string }>(await server.read('static-cred/st'));
      expect(await view.takes(`uid=svc1,${SVC}`, password)).toBe(true);
      return password;
    };
    const expectSettled = async (): Promise<void> => {
      const { status } = dataOf<{ status: object }>(await server.read('static-role/st'));
      expect(status).toMatchObject({ state: 'waiting' });
    };

    test.each(COMMITS)('after %i commits: the password that is answered logs in, at once and later', async (commits) => {
      expect(await dieAfterCommits(commits, rotate)).toBe(commits < 2);
      await expectGood();
      await server.pass(240);
      await expectGood();
      await expectSettled();
    });

    test.each(CALLS)(
      'at call %i of the directory (%s lost): the password that is answered logs in, at once and later',
      async (call, loss) => {
        expect(await dieAt(call, loss, rotate)).toBe(call < 4);
        await expectGood();
        await server.pass(240);
        await expectGood();
        await expectSettled();
      },
    );
  });

  describe('while a static role is made', () => {
    const create = async () => server.ask('update', 'ldap/static-role/st', { username: 'svc2', rotation_period: '24h' });
    const expectWhole = async (): Promise<boolean> => {
      await server.pass(240);
      const answer = await server.ask('read', 'ldap/static-cred/st');
      if (answer.status === 400) return false;
      expect(await view.takes(`uid=svc2,${SVC}`, dataOf<{ password: string }>(answer).password)).toBe(true);
      return true;
    };
    beforeEach(async () => view.setPassword(`uid=svc2,${SVC}`, 'of-old'));

    test.each(COMMITS)('after %i commits: it is whole, or not there and the previous password is good', async (commits) => {
      expect(await dieAfterCommits(commits, create)).toBe(commits < 2);
      if (!(await expectWhole())) expect(await view.takes(`uid=svc2,${SVC}`, 'of-old')).toBe(true);
    });

    test.each(CALLS)(
      'at call %i of the directory (%s lost): it is whole, or not there and the previous password is good',
      async (call, loss) => {
        expect(await dieAt(call, loss, create)).toBe(call < 5);
        if (!(await expectWhole())) expect(await view.takes(`uid=svc2,${SVC}`, 'of-old')).toBe(true);
      },
    );
  });

  describe('while the account of a static role is taken over by another one', () => {
    beforeEach(async () => {
      await server.write('static-role/first', { username: 'svc4', rotation_period: '24h' });
    });
    const takeOver = async () => server.ask('update', 'ldap/static-role/second', { username: 'svc4', rotation_period: '24h', adopt: true });
    /** One of the two manages the account, and the password that it answers logs in. */
    const expectOneManager = async (died: boolean): Promise<void> => {
      await server.pass(300, 60);
      const second = await server.ask('read', 'ldap/static-role/second');
      if (!died) expect(second.status).toBe(200);
      const manager = second.status === 200 ? 'second' : 'first';
      const { status } = dataOf<{ status: object }>(await server.read('static-role/first'));
      expect(status).toMatchObject({ state: manager === 'first' ? 'waiting' : 'taken_over' });
      const { password } = dataOf<{ password: string }>(await server.read(`static-cred/${manager}`));
      expect(await view.takes(`uid=svc4,${SVC}`, password)).toBe(true);
    };

    test.each(COMMITS)('after %i commits: it has one manager, whose password logs in', async (commits) => {
      await expectOneManager(await dieAfterCommits(commits, takeOver));
    });

    test.each(CALLS)('at call %i of the directory (%s lost): it has one manager, whose password logs in', async (call, loss) => {
      await expectOneManager(await dieAt(call, loss, takeOver));
    });
  });

  describe('while a lease is revoked whose deletion_ldif leaves the account', () => {
    let lease: string;
    beforeEach(async () => {
      const wrong = `dn: uid={{.Username}},ou=nowhere,dc=example,dc=org\nchangetype: delete\n`;
      await server.write('role/app', { creation_ldif, deletion_ldif: wrong, default_ttl: '1h' });
      lease = (await server.read('creds/app')).leaseId;
    });
    const revoke = async () => server.ask('update', 'sys/leases/revoke', { lease_id: lease, sync: true });

    test.each(CALLS)('at call %i of the directory (%s lost): the account goes all the same', async (call, loss) => {
      expect(await dieAt(call, loss, revoke)).toBe(call < 3);
      await server.pass(3_900, 60);
      expect(await dynamicAccounts()).toEqual([]);
      expect(await leasesOf('creds/app')).toEqual([]);
      await view.asAdmin(async (connection) =>
        connection.modify('cn=made,ou=groups,dc=example,dc=org', [{ operation: 'replace', attribute: 'member', values: ['cn=nobody'] }]),
      );
    });
  });

  describe('while a dynamic account is made', () => {
    beforeEach(async () => {
      await server.write('role/app', { creation_ldif, deletion_ldif, default_ttl: '1h' });
      await server.pass(1);
    });
    const create = async () => server.ask('read', 'ldap/creds/app');
    const expectNoOrphans = async (died: boolean): Promise<void> => {
      const leases = await leasesOf('creds/app');
      expect(leases).toHaveLength(died ? 0 : 1);
      await server.pass(240);
      expect(await dynamicAccounts()).toHaveLength(leases.length);
      await server.pass(3_660);
      expect(await dynamicAccounts()).toEqual([]);
      expect(await members()).toEqual(['cn=nobody']);
    };

    test.each(COMMITS)('after %i commits: no account is left without a lease', async (commits) => {
      const died = await dieAfterCommits(commits, create);
      expect(died).toBe(commits < 2);
      await expectNoOrphans(died);
    });

    test.each(CALLS)('at call %i of the directory (%s lost): no account is left without a lease', async (call, loss) => {
      const died = await dieAt(call, loss, create);
      expect(died).toBe(call < 3);
      await expectNoOrphans(died);
    });
  });

  describe('while a lease is revoked', () => {
    let lease: string;
    beforeEach(async () => {
      await server.write('role/app', { creation_ldif, deletion_ldif, default_ttl: '1h' });
      lease = (await server.read('creds/app')).leaseId;
    });
    const revoke = async () => server.ask('update', 'sys/leases/revoke', { lease_id: lease, sync: true });
    const expectGone = async (): Promise<void> => {
      await server.pass(3_900, 60);
      expect(await dynamicAccounts()).toEqual([]);
      expect(await members()).toEqual(['cn=nobody']);
      expect(await leasesOf('creds/app')).toEqual([]);
    };

    test.each(COMMITS)('after %i commits: the account goes all the same', async (commits) => {
      expect(await dieAfterCommits(commits, revoke)).toBe(commits < 2);
      await expectGone();
    });

    test.each(CALLS)('at call %i of the directory (%s lost): the account goes all the same', async (call, loss) => {
      expect(await dieAt(call, loss, revoke)).toBe(call < 2);
      await expectGone();
    });
  });

  describe('of the library', () => {
    beforeEach(async () => {
      await server.write('library/set', { service_account_names: 'svc3', ttl: '1h' });
      // The first call stores the salt by which borrowers are told apart.
      await checkIn();
    });
    const checkOut = async () => server.ask('update', 'ldap/library/set/check-out');
    const checkIn = async () => server.ask('update', 'ldap/library/set/check-in');
    /** The account can be borrowed by then, and the password that is answered logs in. */
    const expectLendable = async (): Promise<string> => {
      const answer = await checkOut();
      expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 200 });
      const { password } = dataOf<{ password: string }>(answer);
      expect(await view.takes(`uid=svc3,${SVC}`, password)).toBe(true);
      return password;
    };

    test.each(COMMITS)('while an account is checked out, after %i commits: it is lent with a lease, or comes back', async (commits) => {
      const died = await dieAfterCommits(commits, checkOut);
      expect(died).toBe(commits < 2);
      expect(await leasesOf('library/set/check-out')).toHaveLength(died ? 0 : 1);
      await server.pass(died ? 300 : 3_900, 60);
      await expectLendable();
    });

    test.each(COMMITS)(
      'while one is checked in, after %i commits: the password of the loan is worthless before it is lent again',
      async (commits) => {
        const lent = dataOf<{ password: string }>(await checkOut()).password;
        const died = await dieAfterCommits(commits, checkIn);
        expect(died).toBe(commits < 2);
        if (died && commits === 0) expect((await checkIn()).status).toBe(200);
        await server.pass(240);
        expect(await expectLendable()).not.toBe(lent);
        expect(await view.takes(`uid=svc3,${SVC}`, lent)).toBe(false);
      },
    );

    describe('while the lease of a loan is revoked', () => {
      let lent: string;
      let lease: string;
      beforeEach(async () => {
        const answer = await checkOut();
        lent = dataOf<{ password: string }>(answer).password;
        lease = answer.leaseId!;
      });
      const revoke = async () => server.ask('update', 'sys/leases/revoke', { lease_id: lease, sync: true });
      const expectTakenBack = async (): Promise<void> => {
        await server.pass(3_900, 60);
        expect(await leasesOf('library/set/check-out')).toEqual([]);
        expect(await expectLendable()).not.toBe(lent);
        expect(await view.takes(`uid=svc3,${SVC}`, lent)).toBe(false);
      };

      test.each(COMMITS)('after %i commits: the password of the loan is worthless before it is lent again', async (commits) => {
        expect(await dieAfterCommits(commits, revoke)).toBe(commits < 4);
        await expectTakenBack();
      });

      test.each(CALLS)(
        'at call %i of the directory (%s lost): the password of the loan is worthless before it is lent again',
        async (call, loss) => {
          expect(await dieAt(call, loss, revoke)).toBe(call < 4);
          await expectTakenBack();
        },
      );
    });

    test.each(CALLS)(
      'while one is checked in, at call %i of the directory (%s lost): the password of the loan is worthless before it is lent again',
      async (call, loss) => {
        const lent = dataOf<{ password: string }>(await checkOut()).password;
        expect(await dieAt(call, loss, checkIn)).toBe(call < 4);
        await server.pass(240);
        expect(await expectLendable()).not.toBe(lent);
        expect(await view.takes(`uid=svc3,${SVC}`, lent)).toBe(false);
      },
    );
  });
});
