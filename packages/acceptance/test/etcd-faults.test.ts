import { expect, test } from '@jest/globals';
import { describeWhere, etcdMissing } from '@strongroom/lab';
import { EtcdFaults } from '../src/torture/etcd-faults.ts';

describeWhere(etcdMissing(), 'three members of etcd under load', () => {
  test('lose no acknowledged write when the leader is killed, a member frozen and the leader cut off', async () => {
    const faults = await EtcdFaults.create();
    try {
      const report = await faults.run(3, () => 0.5);
      expect(report.problems).toEqual([]);
      expect(report.writes).toBeGreaterThan(100);
    } finally {
      await faults.dispose();
    }
  }, 60_000);
});
