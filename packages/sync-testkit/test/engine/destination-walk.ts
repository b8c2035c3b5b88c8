import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { type Association, checked, type Data, syncMount, type SyncMount } from '../../../sync/test/sync-mount.ts';
import type { Outside } from '../../src/index.ts';

export interface WalkOptions {
  readonly plugin: SyncDestinationPlugin;
  /** The specification's variant of the type: `cloud2-kv`. */
  readonly alias: string;
  /** The whole path in the specification's variant: what a caller writes to a new destination. */
  readonly fields: () => Data;
  /** What reading the destination shows of its connection. */
  readonly shown: () => Data;
  /** The masked field that a partial update sends back as `*****`. */
  readonly credential: string;
  /** The allowances that let the server of the tests be reached. */
  readonly allowed: () => { readonly allowed_ipv4_addresses: string; readonly allowed_ports: string };
  readonly outside: Outside;
  /** Calls so far that have written, or tried to write, at the provider. */
  readonly writes: () => number;
  /** The provider's code for its "too many requests", as `last_error` shows it. */
  readonly throttledCode: string;
  /** Empties the place, and forgets faults and calls. */
  readonly empty: () => void | Promise<void>;
}

/** What sync itself does with a destination, from its first write to its deletion, against a server that emulates the provider. */
export function destinationWalk(options: WalkOptions): void {
  const { plugin, outside, alias } = options;
  const at = `sys/sync/destinations/${plugin.name}/prod`;
  const perKey = plugin.options.granularity === 'secret-key';

  describe(`POST destinations/${alias}/:name (${plugin.name}), by the engine`, () => {
    // A busy machine takes its time for many calls.
    jest.setTimeout(60_000);
    let sync: SyncMount;
    beforeEach(async () => {
      await options.empty();
      sync = await syncMount({ plugins: [plugin as unknown as Plugin] });
      await sync.put('app/web', { password: 'first' });
    });
    afterEach(async () => sync?.close());

    const make = (more: Data = {}) =>
      checked(sync.ask('update', `sys/sync/destinations/${alias}/prod`, { ...options.fields(), ...options.allowed(), ...more }));
    const link = async (secret = 'app/web'): Promise<Association> => {
      await checked(sync.ask('update', `${at}/associations/set`, { mount: 'kv', secret_name: secret, wait: '30s' }));
      return one();
    };
    const one = async (): Promise<Association> => (await sync.associations(`${plugin.name}/prod`))[0]!;
    const settle = async (): Promise<void> => {
      await sync.core.settleSchedule();
      // A provider's pace, and the second that some tell times apart by.
      await sync.advance('2s');
    };
    /** The password that exists outside. */
    const standing = async (name: string): Promise<unknown> => {
      const value = (await outside.read(name))?.value;
      if (value === undefined || perKey) return value;
      return (JSON.parse(value) as Data)['password'];
    };

    test(`both variants of the type, ${alias} and ${plugin.name}, are one destination; credentials are masked`, async () => {
      const made = await make();
      const { connection_details, type, name } = made.data as Data;
      expect({ type, name, connection_details }).toEqual({
        type: plugin.name,
        name: 'prod',
        connection_details: {
          ...options.shown(),
          allowed_ipv4_addresses: [options.allowed().allowed_ipv4_addresses],
          allowed_ports: [Number(options.allowed().allowed_ports)],
        },
      });
      expect((await sync.ask('read', at)).data).toEqual(made.data);
      for (const variant of [alias, plugin.name]) {
        expect((await sync.ask('list', `sys/sync/destinations/${variant}`)).data).toEqual({ keys: ['prod'], total_destinations: 1 });
      }
    });

    test('a linked secret follows a new version, a delete and an undelete, and goes with the association', async () => {
      await make();
      // `*****` keeps the credential that is stored.
      await checked(sync.ask('patch', at, { [options.credential]: '*****' }));
      const linked = await link();
      expect(linked).toMatchObject({
        sync_status: 'SYNCED',
        attempts: 0,
        remote_name: expect.any(String),
        remote_version: expect.any(String),
      });
      const name = linked.remote_name!;
      expect(await standing(name)).toBe('first');
      await sync.put('app/web', { password: 'second' });
      await settle();
      expect(await standing(name)).toBe('second');
      expect((await one()).remote_version).not.toBe(linked.remote_version);
      await sync.ask('delete', 'kv/data/app/web');
      await settle();
      expect(await outside.read(name)).toBeUndefined();
      await sync.ask('update', 'kv/undelete/app/web', { versions: [2] });
      await settle();
      expect(await standing(name)).toBe('second');
      // In the specification's variant: of the type, and of the secret's name.
      const remove = () =>
        sync.ask('update', `sys/sync/destinations/${alias}/prod/associations/remove`, { mount: 'kv', name: 'app/web', wait: '30s' });
      await checked(remove());
      expect(await outside.read(name)).toBeUndefined();
      expect(await sync.associations(`${plugin.name}/prod`)).toEqual([]);
      await checked(remove());
      expect((await sync.ask('delete', at)).status).toBe(204);
    });

    test('GET plan lists a foreign edit and a missing secret, POST reconcile repairs both, and writes nothing where nothing differs', async () => {
      await make();
      const name = (await link()).remote_name!;
      const written = options.writes();
      expect((await sync.ask('read', `${at}/plan`)).data).toMatchObject({ total: 0, in_sync: 1 });
      await checked(sync.ask('update', `${at}/reconcile`));
      await link();
      await settle();
      expect(options.writes()).toBe(written);
      await outside.write(name, 'edited');
      expect((await sync.ask('read', `${at}/plan`)).data).toMatchObject({ foreign_edits: [{ remote_name: name }], total: 1 });
      expect((await checked(sync.ask('update', `${at}/reconcile`))).data).toMatchObject({ queued: 1 });
      await settle();
      expect(await standing(name)).toBe('first');
      await outside.remove(name);
      expect((await sync.ask('read', `${at}/plan`)).data).toMatchObject({ additions: [{ remote_name: name }], total: 1 });
      await checked(sync.ask('update', `${at}/reconcile`));
      await settle();
      expect(await standing(name)).toBe('first');
      expect((await sync.ask('read', `${at}/plan`)).data).toMatchObject({ total: 0, in_sync: 1 });
    });

    test('on_conflict: a secret of somebody else is unchanged by fail, and taken over by adopt and by overwrite', async () => {
      await make({ secret_name_template: 'taken-name', granularity: 'secret-path' });
      const connection = options.fields() as never;
      const name = plugin.limits(connection).name.normalize('taken-name');
      await outside.write(name, 'theirs');
      expect(await link()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', last_error: { code: 'conflict' } });
      expect((await outside.read(name))?.value).toBe('theirs');
      for (const on_conflict of ['adopt', 'overwrite']) {
        await checked(sync.ask('patch', at, { on_conflict }));
        expect(await link()).toMatchObject({ sync_status: 'SYNCED', remote_name: name });
        expect((await outside.read(name))?.value).toBe('{"password":"first"}');
        await checked(sync.ask('update', `${at}/associations/remove`, { mount: 'kv', secret_name: 'app/web', wait: '30s' }));
        expect(await outside.read(name)).toBeUndefined();
        // For good, where deleted names stay taken for a while.
        await outside.remove(name);
        await outside.write(name, 'theirs again');
      }
    });

    test('a value that is too large is refused before anything is sent, with the limit in the message', async () => {
      await make();
      const { valueMaxBytes } = plugin.limits(options.fields() as never);
      await sync.put('app/web', { password: 'x'.repeat(valueMaxBytes + 1) });
      const requests = await outside.requests!();
      const { sync_status, last_error } = await link();
      expect({ sync_status, code: last_error?.code }).toEqual({ sync_status: 'CLIENT_SIDE_ERROR', code: 'value_too_large' });
      expect(last_error?.message).toContain(String(valueMaxBytes));
      expect(await outside.requests!()).toBe(requests);
    });

    test('a pause that the provider asks for is kept, and shown with its code; then the secret arrives', async () => {
      await make();
      await outside.fail!('throttled');
      const waiting = await link();
      expect(waiting).toMatchObject({ sync_status: 'EXTERNAL_SERVICE_ERROR', last_error: { code: options.throttledCode }, attempts: 1 });
      expect(waiting.next_attempt_at).toBe(new Date(sync.clock.millis() + 7_000).toISOString());
      await outside.heal!();
      const requests = await outside.requests!();
      await sync.advance('6s');
      expect(await outside.requests!()).toBe(requests);
      await sync.advance('4s');
      expect(await one()).toMatchObject({ sync_status: 'SYNCED', attempts: 0 });
    });

    test('the server is refused unless its address and port are allowed', async () => {
      await checked(sync.ask('update', at, options.fields()));
      const requests = await outside.requests!();
      expect(await link()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', last_error: { code: 'address_refused' } });
      expect(await outside.requests!()).toBe(requests);
    });

    test('a destination that is purged and made again by the same name takes its own deleted copies up', async () => {
      await make();
      await link();
      await sync.ask('delete', at, { purge: true });
      await settle();
      expect((await sync.ask('read', at)).status).toBe(404);
      await make();
      const linked = await link();
      expect(linked).toMatchObject({ sync_status: 'SYNCED' });
      expect(await standing(linked.remote_name!)).toBe('first');
    });

    test('DELETE is refused while secrets are associated; with purge=true they are unsynced first', async () => {
      await make();
      const name = (await link()).remote_name!;
      expect((await sync.ask('delete', at)).status).toBe(400);
      expect(await standing(name)).toBe('first');
      const { status } = await sync.ask('delete', at, { purge: true });
      expect([200, 204]).toContain(status);
      await settle();
      expect(await outside.read(name)).toBeUndefined();
      expect((await sync.ask('read', at)).status).toBe(404);
    });
  });
}
