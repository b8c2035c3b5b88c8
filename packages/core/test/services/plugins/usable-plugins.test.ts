import { describe, expect, test } from '@jest/globals';
import { API_VERSION, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, sharedMemory } from '@strongroom/engine-testkit';
import { PluginRefused } from '../../../src/index.ts';
import { UsablePlugins } from '../../../src/services/plugins/usable-plugins.ts';
import { Outside, testEngine } from '../../test-engine.ts';

const old = (pkg: EnginePackage): EnginePackage =>
  ({
    ...pkg,
    apiVersion: API_VERSION - 1,
    create: () => {
      throw new Error('was run');
    },
  }) as unknown as EnginePackage;

describe('a plugin that was built for another API', () => {
  test('is refused alone: its mounts say why, others cannot be made, the catalogue shows it, and everything else goes on', async () => {
    const store = sharedMemory();
    const before = await mountForTest(testEngine(new Outside()), { storage: store.open(), path: 'acc' });
    await before.close();
    const other = { ...testEngine(new Outside()), name: 'other' };
    const mount = await mountForTest(old(testEngine(new Outside())), { storage: store.open(), path: 'acc', plugins: [other] });
    const reason = `plugin test was built for plugin API ${API_VERSION - 1}; this server offers ${API_VERSION}`;
    expect(await mount.call('update', 'acc/roles/r')).toMatchObject({ status: 503, errors: [`the mount acc/ is quarantined: ${reason}`] });
    const refused = await mount.call('update', 'sys/mounts/more', { data: { type: 'test' } });
    expect(refused).toMatchObject({ status: 400, errors: [reason] });
    const { data } = await mount.call('read', 'sys/plugins/catalog');
    expect((data as { detailed: object[] }).detailed).toContainEqual(expect.objectContaining({ name: 'test', refused: reason }));
    expect((await mount.call('update', 'sys/mounts/fine', { data: { type: 'other' } })).status).toBe(204);
    expect((await mount.call('update', 'fine/roles/r')).status).toBe(204);
    // It can be unmounted, as no lease is there; what else it has outside it cannot say.
    const unmounted = await mount.call('delete', 'sys/mounts/acc');
    expect(unmounted.data).toEqual({ left_outside: [] });
    expect(unmounted.warnings).toEqual([expect.stringContaining('so it cannot say what it leaves outside')]);
    await mount.close();
  });

  test('is distinguished without its code being touched', () => {
    const trap = { name: 'trap', kind: 'database', apiVersion: 0 };
    Object.defineProperty(trap, 'open', {
      get: () => {
        throw new Error('was touched');
      },
    });
    const plugins = new UsablePlugins([trap, { name: 'fine', kind: 'database', apiVersion: API_VERSION }]);
    expect(plugins.usable.map(({ name }) => name)).toEqual(['fine']);
    expect(plugins.reasonFor('database', 'trap')).toContain('plugin API 0');
    expect(plugins.reasonFor('database', 'fine')).toBeUndefined();
  });
});

test('a list that names a plugin twice is refused as a whole: which was meant cannot be known', () => {
  const plugin = { name: 'twin', kind: 'database', apiVersion: API_VERSION };
  expect(() => new UsablePlugins([plugin, { ...plugin }])).toThrow(PluginRefused);
  expect(() => new UsablePlugins([plugin, { ...plugin, version: '1.0.0' }])).not.toThrow();
});
