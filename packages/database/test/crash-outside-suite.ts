import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import type { KillableMount } from '@strongroom/engine-testkit';
import type { Loss } from '@strongroom/lab';
import { killableDatabase } from './killable-database.ts';

/** A server of a database behind something that cuts calls to it. */
export interface OutsideServer {
  readonly plugin: DatabasePlugin;
  /** Leads through the cutter; without a login. */
  readonly address: Readonly<Record<string, string>>;
  readonly cutter: { cutAt(n: number, loss: Loss, lost: () => void): void; open(): void };
  readonly creation: string;
  /** Makes a user that manages others, or gives it this password. */
  setManager(username: string, password: string): Promise<void>;
  /** The same for a user without rights. */
  setUser(username: string, password: string): Promise<void>;
  /** What there is of users whose names begin with this: by kind, such as users and their roles. */
  made(prefix: string): Promise<readonly (readonly string[])[]>;
  login(username: string, password: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** How many calls each operation makes; at the one after, nothing is lost. Without a number, the operation is not tried. */
export interface OutsideCalls {
  readonly creation?: number;
  readonly removal?: number;
  readonly rotation: number;
  readonly root: number;
  /** What is lost at each: both by default. */
  readonly losses?: readonly Loss[];
}

/** A server that is killed at each call of what it does to the database that `start` starts. */
export function describeCrashOutside(name: string, start: () => Promise<OutsideServer>, calls: OutsideCalls): void {
  const { creation, removal, losses = ['request', 'answer'] } = calls;
  /** The last round runs through. */
  const rounds = (count: number): [number, Loss][] => [
    ...Array.from({ length: count }, (_, call) => losses.map((loss): [number, Loss] => [call, loss])).flat(),
    [count, losses[0]!],
  ];
  describe(`a server that dies at a call of ${name}`, () => {
    let outside: OutsideServer;
    let server: KillableMount;
    let closeSessions: () => Promise<void>;
    beforeAll(async () => {
      outside = await start();
    }, 150_000);
    afterAll(async () => outside?.stop());
    beforeEach(async () => {
      outside.cutter.open();
      await outside.setManager('keeper', 'kept-Before-7Qz');
      await outside.setUser('app', 'theirs-Before-8Rt');
      ({ server, closeSessions } = await killableDatabase(outside.plugin));
      const login = { username: 'keeper', password: 'kept-Before-7Qz' };
      const connection = { plugin_name: outside.plugin.name, allowed_roles: '*', ...outside.address, ...login };
      expect((await server.ask('update', 'database/config/db', connection)).errors).toBeUndefined();
      await server.ask('update', 'database/roles/app', { db_name: 'db', creation_statements: outside.creation, default_ttl: '1h' });
    });
    afterEach(async () => {
      outside.cutter.open();
      server.storage.die();
      await closeSessions();
    });

    const dieAtCall = async (call: number, loss: Loss, work: () => Promise<unknown>): Promise<boolean> => {
      let lost = false;
      outside.cutter.cutAt(call, loss, () => {
        lost = true;
        server.storage.die();
      });
      const running = work();
      await Promise.race([server.storage.noticed, running]);
      // What still runs of the dead has to come to its end before the next one begins.
      if (lost) await Promise.race([server.storage.noticed, running]);
      outside.cutter.open();
      server = await server.restart();
      return lost;
    };
    const everything = async () => outside.made('v-');
    const leases = async (): Promise<string[]> =>
      ((await server.ask('list', 'sys/leases/lookup/database/creds/app')).data as { keys: string[] } | null)?.keys ?? [];
    const revoke = async (lease: string | undefined) =>
      server.ask('update', 'sys/leases/revoke', { lease_id: `database/creds/app/${lease}`, sync: true });
    const create = async () => server.ask('read', 'database/creds/app');

    if (creation !== undefined) {
      test.each(rounds(creation))(
        'while a user is created, at call %i, whose %s is lost: all that was made has a lease or is gone',
        async (call, loss) => {
          expect(await dieAtCall(call, loss, create)).toBe(call < creation);
          await server.pass(240, 9);
          const live = await leases();
          for (const names of await everything()) expect(names).toHaveLength(live.length);
          for (const lease of live) await revoke(lease);
          expect((await everything()).flat()).toEqual([]);
        },
      );
    }

    if (removal !== undefined) {
      test.each(rounds(removal))(
        'while a user is removed, at call %i, whose %s is lost: all that was made is gone in the end',
        async (call, loss) => {
          await create();
          const [lease] = await leases();
          expect(await dieAtCall(call, loss, async () => revoke(lease))).toBe(call < removal);
          await server.pass(240, 9);
          if ((await leases()).length > 0) await revoke(lease);
          expect([await leases(), (await everything()).flat()]).toEqual([[], []]);
        },
      );
    }

    test.each(rounds(calls.rotation))(
      'while a static role is rotated, at call %i, whose %s is lost: what is answered logs in, at once and later',
      async (call, loss) => {
        const role = { db_name: 'db', username: 'app', rotation_period: '24h' };
        expect((await server.ask('update', 'database/static-roles/fixed', role)).status).toBe(204);
        const rotate = async () => server.ask('update', 'database/rotate-role/fixed');
        expect(await dieAtCall(call, loss, rotate)).toBe(call < calls.rotation);
        for (const seconds of [0, 240]) {
          await server.pass(seconds, 9);
          const { username, password } = (await server.ask('read', 'database/static-creds/fixed')).data as Record<
            'username' | 'password',
            string
          >;
          await outside.login(username, password);
        }
        expect((await rotate()).status).toBe(204);
      },
    );

    test.each(rounds(calls.root))(
      'while the managing user is rotated, at call %i, whose %s is lost: the connection works, at once and later',
      async (call, loss) => {
        const rotate = async () => server.ask('update', 'database/rotate-root/db');
        expect(await dieAtCall(call, loss, rotate)).toBe(call < calls.root);
        for (const seconds of [0, 240]) {
          await server.pass(seconds, 9);
          const { status, errors } = await create();
          expect({ status, errors }).toEqual({ status: 200 });
        }
        await expect(outside.login('keeper', 'kept-Before-7Qz')).rejects.toThrow();
        for (const lease of await leases()) await revoke(lease);
      },
    );
  });
}
