import { test } from '@jest/globals';
import { describeWhere, etcdMissing } from '@strongroom/lab';
import { etcdCrashStore } from '../src/torture/etcd-crash-store.ts';
import { crashCases } from './crash-cases.ts';

describeWhere(etcdMissing(), 'a server on etcd that is killed at random moments under load', () => {
  const killed = crashCases();

  test('loses nothing while members are killed, frozen and cut off: 6 kills', async () => {
    await killed(6, await etcdCrashStore(), { faultEvery: 2 });
  }, 300_000);
});
