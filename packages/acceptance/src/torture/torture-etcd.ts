import { etcdMissing } from '@strongroom/lab';
import { EtcdFaults } from './etcd-faults.ts';

/** Longer without any answer, and a fault of one member would be an outage. */
const LONGEST_GAP_MS = 4_000;

/** Faults of the members of etcd under load; gives what was wrong. */
export async function tortureEtcd(faults: number, say: (text: string) => void): Promise<string[]> {
  const missing = etcdMissing();
  if (missing !== undefined) {
    say(`no member of etcd was killed: ${missing}`);
    return [];
  }
  const run = await EtcdFaults.create();
  try {
    const { writes, reads, unknown, longestGap, problems } = await run.run(faults, Math.random);
    say(
      `etcd: ${faults} members killed, frozen and cut off, ${writes} acknowledged writes, ${reads} reads, ${unknown} unknown, longest gap ${longestGap} ms`,
    );
    return longestGap > LONGEST_GAP_MS ? [...problems, `etcd: nothing was answered for ${longestGap} ms`] : [...problems];
  } finally {
    await run.dispose();
  }
}
