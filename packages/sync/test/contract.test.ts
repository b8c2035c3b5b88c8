import { describe, test } from '@jest/globals';
import type { Plugin } from '@strongroom/engine-sdk';
import { engineContract } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryDestination, MemoryProvider } from '@strongroom/sync-testkit';
import { syncEngine } from '../src/index.ts';
import { CONNECTION } from './sync-mount.ts';

engineContract(
  { describe, test },
  {
    engine: syncEngine,
    plugins: [kvEngine, memoryDestination(new MemoryProvider()) as unknown as Plugin],
    prepare: async (mount) => {
      await mount.call('update', 'sys/mounts/kv', { data: { type: 'kv', options: { version: '2' } } });
      await mount.call('update', 'kv/data/web', { data: { data: { a: '1' } } });
      await mount.write('memory-accounts/app', { owner: 'me', private_key: 'PEM-PEM' });
      await mount.write('destinations/memory/one', CONNECTION);
      await mount.write('destinations/memory/one/associations/set', { mount: 'kv', secret_name: 'web' });
      await mount.advance('1m');
      return { name: ['one'], type: ['memory'], destination: ['one'], mount: ['kv'], secret_name: ['web'] };
    },
    outside: ['destinations/{type}/{destination}/plan', 'destinations/{type}/{destination}/reconcile'],
    skip: [
      { test: 'two mounts know nothing of each other', reason: 'the server itself mounts secret sync, and once' },
      { test: 'unmounting leaves nothing of the mount in the store', reason: 'secret sync cannot be unmounted' },
      { test: 'a forced unmount names what is left outside, and holds no secret', reason: 'secret sync cannot be unmounted' },
    ],
  },
);
