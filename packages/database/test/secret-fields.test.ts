import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { Type, type TObject } from 'typebox';
import { databaseEngine } from '../src/index.ts';
import { faultyDatabase } from './faulty-plugin.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const text = Type.Optional(Type.String());
const secret = Type.Optional(Type.String({ secret: true }));

function pluginWith(name: string, connection: TObject) {
  return { ...faultyDatabase(name).plugin, connection };
}

describe('connection_details of config/:name', () => {
  const first = pluginWith('first-database-plugin', Type.Object({ host: text, pin: secret, ssh_key: secret }));
  const second = pluginWith('second-database-plugin', Type.Object({ host: text, pin: text }));
  const storage = sharedMemory();
  let mount: TestMount;
  const shown = async () => ((await mount.read('config/c')).data as { connection_details: object }).connection_details;
  beforeEach(async () => {
    mount = await mountForTest(databaseEngine, { plugins: [first, second], storage: storage.open() });
    await mount.delete('config/c');
    await mount.write('config/c', { plugin_name: 'first-database-plugin', host: 'h', pin: 'geheim-pin', ssh_key: 'geheim-key' });
  });
  afterEach(async () => mount.close());

  test('hold no secret of a plugin that is not installed any more', async () => {
    expect(await shown()).toEqual({ host: 'h' });
    await mount.close();
    mount = await mountForTest(databaseEngine, { plugins: [], storage: storage.open() });
    expect(await shown()).toEqual({ host: 'h' });
  });

  test('hold no secret of the plugin before, until the field is sent again', async () => {
    await mount.write('config/c', { plugin_name: 'second-database-plugin' });
    expect(await shown()).toEqual({ host: 'h' });
    await mount.write('config/c', { allowed_roles: '*' });
    expect(await shown()).toEqual({ host: 'h' });
    await mount.write('config/c', { pin: 'open' });
    expect(await shown()).toEqual({ host: 'h', pin: 'open' });
  });
});
