import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import type { KillableMount } from '@strongroom/engine-testkit';
import {
  describeWhere,
  findMysql,
  type FreezingProxy,
  type Loss,
  mariadbMissing,
  startFreezingProxy,
  startMariadb,
  startMysql,
} from '@strongroom/lab';
import { killableDatabase } from './killable-database.ts';
import { mysqlServer, postgresServer, type RevocationServer } from './revocation-servers.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

interface Creds {
  readonly username: string;
  readonly password: string;
}

/** What a role says of the removal, and whether the user can go at all. */
interface Way {
  readonly title: string;
  readonly role: Record<string, unknown>;
  readonly owns: boolean;
  readonly stays: boolean;
  /** How many messages to the database a revocation has: at the one after, nothing is lost. */
  readonly calls: number;
}

/** More commits than a revocation makes: the last round runs through. */
const COMMITS = [0, 1, 2, 3, 4];
const LOSSES: readonly Loss[] = ['request', 'answer'];

function describeRevocation(name: string, start: () => Promise<RevocationServer>, ways: readonly Way[]): void {
  describe(`a server that dies in a revocation on ${name}`, () => {
    let database: RevocationServer;
    let proxy: FreezingProxy;
    let server: KillableMount;
    let closeSessions: () => Promise<void>;
    beforeAll(async () => {
      database = await start();
      proxy = await startFreezingProxy(database);
    }, 120_000);
    afterAll(async () => {
      await proxy?.close();
      await database?.stop();
    });
    beforeEach(async () => {
      ({ server, closeSessions } = await killableDatabase(database.plugin as unknown as DatabasePlugin));
      expect((await server.ask('update', 'database/config/db', database.connection(proxy.port))).status).toBe(204);
    });
    afterEach(async () => {
      proxy.intercept(undefined);
      server.storage.die();
      await closeSessions();
      await database.clean();
    });

    /** A user of a lease, with a session that is open. */
    const someUser = async ({ role, owns }: Way) => {
      const written = { db_name: 'db', creation_statements: database.creation(owns), default_ttl: '1h', ...role };
      expect((await server.ask('update', 'database/roles/app', written)).status).toBe(204);
      const { leaseId, data } = await server.ask('read', 'database/creds/app');
      const creds = data as unknown as Creds;
      const session = await database.session(creds.username, creds.password);
      return { leaseId, creds, session };
    };
    const revoke = async (leaseId: string | undefined) => server.ask('update', 'sys/leases/revoke', { lease_id: leaseId, sync: true });

    /** Once the process is back. A revocation that the store has never heard of comes with the end of the lease; every other one goes on at once. */
    const expectShut = async (
      { stays }: Way,
      { leaseId, creds, session }: Awaited<ReturnType<typeof someUser>>,
      isStored = true,
    ): Promise<void> => {
      await server.pass(isStored ? 240 : 3_840);
      await expect(database.login(creds.username, creds.password)).rejects.toThrow();
      await session.ended;
      if (stays) await server.pass(7_200);
      const lookup = await server.ask('update', 'sys/leases/lookup', { lease_id: leaseId });
      if (!stays) {
        expect([lookup.status, await database.users()]).toEqual([400, []]);
        return;
      }
      expect(lookup.status).toBe(200);
      const { data } = await server.ask('read', 'sys/leases', { type: 'irrevocable' });
      const reasons = (data as { leases: { error: string }[] }).leases.map(({ error }) => error);
      expect(reasons).toEqual([expect.stringMatching(/the user stays, but its login was taken away; .*depend on it/s)]);
      // What kept the user is out of the way: nothing of it is left.
      await database.release();
      expect([(await revoke(leaseId)).status, await database.users()]).toEqual([204, []]);
    };

    for (const way of ways) {
      test.each(COMMITS)(`${way.title}: after %i commits the login ends`, async (commits) => {
        const user = await someUser(way);
        server.storage.dieAfter(commits);
        const died = await server.diesIn(revoke(user.leaseId));
        expect(died).toBe(commits < 2);
        server = await server.restart();
        await expectShut(way, user, commits > 0);
      });

      const rounds = Array.from({ length: way.calls + 1 }, (_, call) => LOSSES.map((loss): [number, Loss] => [call, loss])).flat();
      test.each(rounds)(`${way.title}: at call %i, whose %s is lost, the login ends`, async (call, loss) => {
        const user = await someUser(way);
        let left = call;
        let lost = false;
        proxy.intercept((data) => {
          if (lost) return 'cut';
          if (left-- > 0) return data;
          lost = true;
          server.storage.die();
          return loss === 'request' ? 'cut' : 'deafen';
        });
        await server.diesIn(revoke(user.leaseId));
        expect(lost).toBe(call < way.calls);
        proxy.intercept(undefined);
        server = await server.restart();
        await expectShut(way, user);
      });
    }
  });
}

describeRevocation('PostgreSQL', postgresServer, [
  { title: 'with end_sessions', role: {}, owns: false, stays: false, calls: 3 },
  { title: 'with on_owned_objects=fail', role: { on_owned_objects: 'fail' }, owns: true, stays: true, calls: 8 },
  { title: 'with on_owned_objects=reassign', role: { on_owned_objects: 'reassign' }, owns: true, stays: false, calls: 3 },
  { title: 'with on_owned_objects=drop', role: { on_owned_objects: 'drop' }, owns: true, stays: false, calls: 3 },
]);

const PLAIN: Omit<Way, 'calls'> = { title: 'with end_sessions', role: {}, owns: false, stays: false };
const mysql = await findMysql();
if ('missing' in mysql) describeWhere(mysql.missing, 'a server that dies in a revocation on MySQL', () => undefined);
else describeRevocation('MySQL', async () => mysqlServer(startMysql), [{ ...PLAIN, calls: 7 }]);
if (mariadbMissing === undefined) describeRevocation('MariaDB', async () => mysqlServer(startMariadb), [{ ...PLAIN, calls: 7 }]);
else describeWhere(mariadbMissing, 'a server that dies in a revocation on MariaDB', () => undefined);
