import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { killableMount, manualClock, type KillableMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import type { Loss } from '@strongroom/lab';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { syncEngine } from '../../../sync/src/index.ts';

type Data = Readonly<Record<string, unknown>>;

export interface CrashOptions {
  readonly plugin: SyncDestinationPlugin;
  /** What a caller writes to a new destination, so that the server of the tests is reached. */
  readonly fields: () => Data;
  /** Empties the place, and lets everybody through. */
  readonly empty: () => Promise<void>;
  /** Loses the n-th call from now, 0 is the next one, or its answer, and lets nobody through after it until `heal`. */
  readonly cutAt: (n: number, loss: Loss, lost: () => void) => void;
  readonly heal: () => void;
  /** The keys of every secret that is there. */
  readonly standing: () => Promise<readonly Data[]>;
}

const SECRET = { mount: 'kv', secret_name: 'web' };
/** Longer than any hold, retry and delay of what these operations leave. Seconds. */
const LATER = 600;

interface Operation {
  readonly title: string;
  prepare?(server: KillableMount, path: string): Promise<unknown>;
  carryOut(server: KillableMount, path: string): Promise<unknown>;
}

const link = async (server: KillableMount, path: string): Promise<void> => {
  await server.ask('update', `${path}/associations/set`, SECRET);
  await server.advance(1);
};
const OPERATIONS: readonly Operation[] = [
  { title: 'a secret is linked', carryOut: link },
  {
    title: 'a new version is written',
    prepare: link,
    carryOut: async (server) => {
      await server.ask('update', 'kv/data/web', { data: { a: '3' } });
      await server.advance(1);
    },
  },
  {
    title: 'an association is removed',
    prepare: link,
    carryOut: async (server, path) => {
      await server.ask('update', `${path}/associations/remove`, SECRET);
      await server.advance(1);
    },
  },
];

/** A server that is killed at each call of what sync does to a destination. */
export function destinationCrash(options: CrashOptions): void {
  const path = `sys/sync/destinations/${options.plugin.name}/one`;
  const rounds = OPERATIONS.flatMap((operation) =>
    (['request', 'answer'] as const).map((loss): [string, Loss, Operation] => [operation.title, loss, operation]),
  );

  describe(`a server that dies in the middle of a copy (${options.plugin.name})`, () => {
    // The machine may be busy with other suites.
    jest.setTimeout(240_000);
    let server: KillableMount;
    beforeEach(async () => begin());
    afterEach(async () => server.storage.die());

    async function begin(): Promise<void> {
      await options.empty();
      const plugins = [kvEngine, options.plugin as unknown as Plugin];
      server = await killableMount(syncEngine, { plugins, clock: manualClock() });
      await server.ask('update', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
      const written = await server.ask('update', path, { ...options.fields(), disable_strict_networking: true });
      expect(written.errors).toBeUndefined();
      await server.ask('update', 'kv/data/web', { data: { a: '1', b: '2' } });
    }

    /** What exists outside is what the server holds inside. */
    async function converges(): Promise<void> {
      options.heal();
      server = await server.restart();
      await server.pass(LATER);
      const found = await server.ask('read', `${path}/associations`);
      const linked = Object.values((found.data as { associated_secrets: Record<string, { sync_status: string }> }).associated_secrets);
      expect(linked.map(({ sync_status }) => sync_status)).toEqual(linked.map(() => 'SYNCED'));
      const { data } = (await server.ask('read', 'kv/data/web')).data as { data: Data };
      expect(await options.standing()).toEqual(linked.map(() => data));
    }

    test.each(rounds)(
      'while %s, at each call whose %s is lost: what exists outside converges to what exists inside',
      async (_title, loss, { prepare, carryOut }) => {
        for (let call = 0, died = true; died; call += 1) {
          if (call > 0) await begin();
          await prepare?.(server, path);
          died = false;
          options.cutAt(call, loss, () => {
            died = true;
            server.storage.die();
          });
          await Promise.race([server.storage.noticed, carryOut(server, path)]);
          if (!died) {
            options.heal();
            expect(call).toBeGreaterThan(1);
          }
          await converges();
          expect(call).toBeLessThan(20);
          server.storage.die();
        }
      },
    );
  });
}
