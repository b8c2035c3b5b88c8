import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EnginePackage, SecretSources } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '../src/index.ts';

describe('the secrets of version 2 can be followed', () => {
  let mount: TestMount;
  let sources: SecretSources;
  let heard: string[];

  const subscriber: EnginePackage = {
    name: 'ear',
    kind: 'secret',
    apiVersion: 2,
    system: { path: 'sys/ear/' },
    subscribesToSecrets: true,
    create: (host) => {
      sources = host.sources!;
      return { paths: [], subscriber: { changed: async (_, { name }) => void heard.push(name), unmounted: async () => undefined } };
    },
  };
  const current = async (name: string) => sources.at('kv')!.source!.read(name);

  beforeEach(async () => {
    heard = [];
    mount = await mountForTest(kvEngine, { plugins: [subscriber], options: { version: '2' } });
  });
  afterEach(async () => mount.close());

  test('every change of what can be read is notified: put, patch, delete, undelete, destroy and the end of the metadata', async () => {
    await mount.write('data/app/db', { data: { a: '1' } });
    expect(await current('app/db')).toEqual({ version: 1, data: { a: '1' } });
    await mount.patch('data/app/db', { data: { b: '2' } });
    expect(await current('app/db')).toEqual({ version: 2, data: { a: '1', b: '2' } });
    await mount.delete('data/app/db');
    expect(await current('app/db')).toBeUndefined();
    await mount.write('undelete/app/db', { versions: [2] });
    expect((await current('app/db'))?.version).toBe(2);
    await mount.write('delete/app/db', { versions: [2] });
    await mount.write('destroy/app/db', { versions: [2] });
    expect(await current('app/db')).toBeUndefined();
    await mount.delete('metadata/app/db');
    expect(heard).toEqual(Array<string>(7).fill('app/db'));
  });

  test('a version that ends by itself says when', async () => {
    await mount.write('metadata/short', { delete_version_after: '1h' });
    await mount.write('data/short', { data: { a: '1' } });
    expect((await current('short'))?.expiresAt).toEqual(new Date(mount.clock.millis() + 3_600_000));
    await mount.advance('1h');
    expect(await current('short')).toBeUndefined();
  });

  test('whoever may read data/<name> may read the secret', async () => {
    expect(sources.at('kv')!.source!.readPath('app/db')).toBe('data/app/db');
  });

  test('version 1 offers none', async () => {
    await mount.call('update', 'sys/mounts/plain', { data: { type: 'kv' } });
    expect(sources.at('plain')).toEqual({ mount: expect.anything() });
    expect(sources.at('plain')?.source).toBeUndefined();
  });
});
