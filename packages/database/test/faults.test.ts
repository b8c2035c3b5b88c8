import { AsyncResource } from 'node:async_hooks';
import { createPrivateKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, jest } from '@jest/globals';
import { API_VERSION, notifyOwner } from '@strongroom/engine-sdk';
import { ConnectionLost, SessionClosed, StatementFailed } from '@strongroom/database-sdk';
import { mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { databaseEngine } from '../src/index.ts';
import { PluginCatalog } from '../src/plugin-catalog.ts';
import { faultyDatabase, type FaultyDatabase } from './faulty-plugin.ts';

const SECRET = 'root-secret-Xy7';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

describe('a database plugin that misbehaves', () => {
  let bad: FaultyDatabase;
  let good: FaultyDatabase;
  let mount: TestMount;
  const creds = async (role = 'app') => {
    const { status, errors } = await mount.call('read', `database/creds/${role}`);
    return [status, ...(errors ?? [])].join();
  };
  const openIntents = async () => ((await mount.call('read', 'sys/journal')).data as { intents: unknown[] }).intents.length;
  beforeEach(async () => {
    bad = faultyDatabase();
    good = faultyDatabase('good-database-plugin');
    mount = await mountForTest(databaseEngine, { plugins: [bad.plugin, good.plugin] });
    const connection = { host: 'h', password: SECRET, username: 'root', allowed_roles: '*' };
    await mount.write('config/bad', { plugin_name: 'faulty-database-plugin', ...connection });
    await mount.write('config/good', { plugin_name: 'good-database-plugin', ...connection });
    await mount.write('roles/app', { db_name: 'bad', creation_statements: '{}', default_ttl: '1h' });
    await mount.write('roles/ok', { db_name: 'good', creation_statements: '{}' });
  });
  afterEach(async () => mount.close());

  test('one that throws by a fault of its code is quarantined, says why, and the others go on', async () => {
    bad.next = async () => {
      throw new TypeError(`cannot read ${SECRET}`);
    };
    const first = await creds();
    expect(first).toContain('500,');
    expect(first).not.toContain(SECRET);
    expect(await creds()).toBe('503,the connection "bad" is quarantined: plugin faulty-database-plugin threw cannot read [password]');
    expect(await creds('ok')).toBe('200');
    const failing = (await mount.read('failing')).data as { connections: Record<string, { reason: string }> };
    expect(Object.keys(failing.connections)).toEqual(['bad']);
    await mount.advance('61s');
    expect(await creds()).toBe('200');
    expect(bad).toMatchObject({ opened: 2, closed: 1 });
  });

  test('a reset ends the quarantine', async () => {
    bad.next = async () => {
      throw new TypeError('x');
    };
    await creds();
    expect(await creds()).toContain('503,');
    await mount.write('reset/bad');
    expect(await creds()).toBe('200');
  });

  test('one that does not answer is given up at the deadline; if it does not let go then, it is quarantined', async () => {
    bad.next = async (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const slow = creds();
    await new Promise((resolve) => setImmediate(resolve));
    await mount.clock.advance('46s');
    expect(await slow).toContain('500,1 error occurred:\n\t* database "bad": no answer within 45 s');
    expect(await creds()).toBe('200');

    bad.next = async () => new Promise(() => undefined);
    const hanging = creds();
    await new Promise((resolve) => setImmediate(resolve));
    await mount.clock.advance('46s');
    await mount.clock.advance('6s');
    expect(await hanging).toContain('no answer within 45 s');
    expect(await creds()).toBe(
      '503,the connection "bad" is quarantined: plugin faulty-database-plugin did not end a call after it was aborted',
    );
  });

  test('one that throws in open by a fault of its code, not even in a promise, is quarantined', async () => {
    await mount.write('reload/faulty-database-plugin');
    const { open } = bad.plugin;
    (bad.plugin as { open: unknown }).open = () => {
      throw new TypeError(`no ${SECRET} here`);
    };
    expect(await creds()).toBe('500,1 error occurred:\n\t* database "bad": no [password] here\n\n');
    expect(await creds()).toBe('503,the connection "bad" is quarantined: plugin faulty-database-plugin threw no [password] here');
    expect(await creds('ok')).toBe('200');
    (bad.plugin as { open: unknown }).open = open;
    await mount.advance('61s');
    expect(await creds()).toBe('200');
  });

  test('one that hangs in open is given up and quarantined; what waited for it is answered', async () => {
    await mount.write('reload/faulty-database-plugin');
    const { open } = bad.plugin;
    (bad.plugin as { open: unknown }).open = async () => new Promise(() => undefined);
    const waiting = [creds(), creds()];
    await new Promise((resolve) => setImmediate(resolve));
    await mount.clock.advance('46s');
    await mount.clock.advance('6s');
    for (const answer of await Promise.all(waiting)) expect(answer).toContain('no answer within 45 s');
    expect(await creds()).toContain('did not end a call after it was aborted');
    expect(await creds('ok')).toBe('200');
    (bad.plugin as { open: unknown }).open = open;
  });

  test('one whose declared settings cannot be checked is quarantined, and the others go on', async () => {
    await mount.write('reload/faulty-database-plugin');
    // The schema is compiled once for each plugin value, so this is another one.
    const twisted = {
      ...bad.plugin,
      name: 'twisted-database-plugin',
      connection: { type: 'object', properties: { host: { type: 'nonsense' } } },
    };
    await mount.close();
    mount = await mountForTest(databaseEngine, { plugins: [twisted, good.plugin] });
    const made = await mount.call('update', 'database/config/x', { data: { plugin_name: 'twisted-database-plugin', host: 'h' } });
    expect(made.status).toBe(400);
    expect(made.errors!.join()).toContain('declares settings that cannot be checked');
    expect((await mount.write('config/good', { plugin_name: 'good-database-plugin', host: 'h' })).status).toBe(204);
  });

  test.each(['an exception of a timer', 'a rejection that nobody waits for'])(
    'one that leaks %s after its call has ended is quarantined',
    async (kind) => {
      let owned: (() => boolean) | undefined;
      bad.next = async () => {
        // What the process's handlers see: the context of the code that threw.
        owned = AsyncResource.bind(() => notifyOwner(kind.includes('timer') ? new Error(`late ${SECRET}`) : 'late text'));
      };
      expect(await creds()).toBe('200');
      expect(notifyOwner(new Error('of the server itself'))).toBe(false);
      expect(owned!()).toBe(true);
      expect(await creds()).toMatch(
        /^503,the connection "bad" is quarantined: plugin faulty-database-plugin threw after its call had ended: late (\[password\]|text)$/,
      );
      expect(await creds('ok')).toBe('200');
      await mount.advance('61s');
      expect(await creds()).toBe('200');
    },
  );

  test('what one throws after its call holds no password that any call was given, of its own connection or of another one', async () => {
    const handed: string[] = [];
    for (const [name, role] of [
      ['bad', 'app'],
      ['good', 'ok'],
    ] as const) {
      const { data } = await mount.read(`creds/${role}`);
      handed.push((data as { password: string }).password);
      expect(name).toBeTruthy();
    }
    let owned: (() => boolean) | undefined;
    bad.next = async () => {
      owned = AsyncResource.bind(() => notifyOwner(new Error(`late ${handed.join(' ')} ${SECRET}`)));
    };
    expect(await creds()).toBe('200');
    expect(owned!()).toBe(true);
    const answer = await creds();
    expect(answer).toContain('threw after its call had ended: late [new password] [new password] [password]');
    for (const password of handed) expect(answer).not.toContain(password);
  });

  test('the texts of its errors are cut at 4 KiB', async () => {
    bad.next = async () => {
      throw new StatementFailed('x'.repeat(100_000));
    };
    const answer = await creds();
    expect(answer.length).toBeLessThan(4_400);
    expect(answer).toContain('…');
    bad.next = async () => {
      throw new TypeError(`${'y'.repeat(100_000)}`);
    };
    await creds();
    expect((await creds()).length).toBeLessThan(4_400);
  });

  test.each(['at once', 'after a while'])(
    'one that holds up the event loop for longer than its deadline, %s, is named in the log and quarantined',
    async (when) => {
      const said: unknown[] = [];
      await mount.close();
      const log = {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: (...line: unknown[]) => void said.push(line),
      };
      mount = await mountForTest(databaseEngine, { plugins: [bad.plugin, good.plugin], log });
      await mount.write('config/bad', { plugin_name: 'faulty-database-plugin', host: 'h', allowed_roles: '*', call_deadline: 1 });
      await mount.write('config/good', { plugin_name: 'good-database-plugin', host: 'h', allowed_roles: '*' });
      await mount.write('roles/app', { db_name: 'bad', creation_statements: '{}' });
      await mount.write('roles/ok', { db_name: 'good', creation_statements: '{}' });
      bad.next = async () => {
        if (when !== 'at once') await new Promise((resolve) => setImmediate(resolve));
        for (const end = performance.now() + 1_400; performance.now() < end;);
      };
      await creds();
      expect(await creds()).toMatch(
        /^503,the connection "bad" is quarantined: plugin faulty-database-plugin held up the whole server for 1\.\d s$/,
      );
      expect(JSON.stringify(said)).toContain('plugin faulty-database-plugin held up the whole server');
      expect(await creds('ok')).toBe('200');
      await mount.advance('61s');
      expect(await creds()).toBe('200');
    },
  );

  test('one that does not open is reported, and is opened again at the next use', async () => {
    await mount.write('reload/faulty-database-plugin');
    bad.nextOpen = () => {
      throw new Error(`no driver for ${SECRET}`);
    };
    expect(await creds()).toBe('500,1 error occurred:\n\t* database "bad": no driver for [password]\n\n');
    expect(await creds()).toBe('200');
  });

  test('one that was built for another API version is not run: its connections say so, the others go on, and the catalogue shows it', async () => {
    const storage = sharedMemory();
    await mount.close();
    const connection = { host: 'h', allowed_roles: '*' };
    mount = await mountForTest(databaseEngine, { plugins: [bad.plugin, good.plugin], storage: storage.open() });
    await mount.write('config/bad', { plugin_name: 'faulty-database-plugin', ...connection });
    await mount.write('config/good', { plugin_name: 'good-database-plugin', ...connection });
    await mount.write('roles/app', { db_name: 'bad', creation_statements: '{}' });
    await mount.write('roles/ok', { db_name: 'good', creation_statements: '{}' });
    await mount.close();
    const { opened } = bad;
    const other = { ...bad.plugin, apiVersion: API_VERSION + 1 };
    mount = await mountForTest(databaseEngine, { plugins: [other, good.plugin], storage: storage.open() });
    const reason = `plugin faulty-database-plugin was built for plugin API ${API_VERSION + 1}; this server offers ${API_VERSION}`;
    expect(await creds()).toBe(`503,the connection "bad" is quarantined: ${reason}`);
    expect(await creds('ok')).toBe('200');
    expect((await mount.read('failing')).data).toMatchObject({ connections: { bad: { reason } } });
    expect((await mount.read('config/bad/status')).data).toMatchObject({ state: 'out-of-use', quarantine: reason });
    expect((await mount.read('config/bad')).data).toMatchObject({ connection_details: { host: 'h' } });
    const refused = await mount.call('update', 'database/config/new', { data: { plugin_name: 'faulty-database-plugin', ...connection } });
    expect(refused).toMatchObject({ status: 400, errors: [`error creating database object: ${reason}`] });
    const { data } = await mount.call('read', 'sys/plugins/catalog');
    expect((data as { detailed: object[] }).detailed).toContainEqual(
      expect.objectContaining({ name: 'faulty-database-plugin', refused: reason }),
    );
    expect(bad.opened).toBe(opened);
  });

  test('one that does not describe itself is not run', () => {
    const hollow = new PluginCatalog(() => [{ name: 'hollow', kind: 'database', apiVersion: 2 }]);
    expect(() => hollow.find('hollow', '')).toThrow(
      'does not describe itself as a database plugin: it lacks open, connection (a TypeBox object), supports.credentials, usernameTemplate',
    );
    const halfDone = new PluginCatalog(() => [{ name: 'half', kind: 'database', apiVersion: 2, open: async () => undefined } as never]);
    expect(() => halfDone.find('half', '')).toThrow('it lacks connection (a TypeBox object), supports.credentials, usernameTemplate');
  });

  test('an unknown outcome is left to the journal, a refusal is cleaned up at once', async () => {
    bad.next = async () => {
      bad.users.add('half-made');
      throw new ConnectionLost('the line went dead');
    };
    expect(await creds()).toContain('database "bad": the line went dead');
    expect(await openIntents()).toBe(1);
    await mount.advance('4m');
    expect(await openIntents()).toBe(0);
    bad.next = async () => {
      throw new StatementFailed('no');
    };
    expect(await creds()).toContain('failed to execute query: no');
    await mount.advance(1);
    expect(await openIntents()).toBe(0);
  });

  test('a call that meets a closed session is made once more on a new one', async () => {
    bad.next = async () => {
      throw new SessionClosed();
    };
    expect(await creds()).toBe('200');
    expect(bad.opened).toBe(2);
  });

  test('sessions are opened once for many calls, closed when the settings change, and closed with the mount', async () => {
    await mount.write('reload/faulty-database-plugin');
    const before = bad.opened;
    await Promise.all(Array.from({ length: 20 }, async () => creds()));
    expect(bad.opened).toBe(before + 1);
    await mount.write('config/bad', { host: 'other' });
    await mount.read('creds/app');
    await mount.call('delete', 'sys/mounts/database');
    await mount.core.settleSchedule();
    expect(bad.closed).toBe(bad.opened);
  });

  test('an rsa_private_key comes in PEM, of the size asked for', async () => {
    await mount.write('roles/key', { db_name: 'bad', credential_type: 'rsa_private_key', credential_config: { key_bits: '3072' } });
    const { data } = await mount.read('creds/key');
    const key = createPrivateKey((data as { rsa_private_key: string }).rsa_private_key);
    expect(key.asymmetricKeyDetails).toMatchObject({ modulusLength: 3_072 });
  });
});
