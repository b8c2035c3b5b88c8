import { startEtcd, type EtcdMember } from '@strongroom/lab';
import { etcdStorage } from '@strongroom/storage-etcd';
import type { CrashStore, StoreFault } from './crash-store.ts';

/** Three members of etcd, of which one is killed, frozen or cut off; every second time it is the leader. */
export async function etcdCrashStore(random: () => number = Math.random): Promise<CrashStore> {
  const etcd = await startEtcd({ members: 3 });
  const { endpoints } = etcd;
  let struck = 0;
  const victim = async (): Promise<EtcdMember> => {
    const leader = await etcd.leader();
    struck += 1;
    return struck % 2 ? leader : etcd.members[Math.floor(random() * etcd.members.length)]!;
  };
  const fault = (name: string, begin: (member: EtcdMember) => unknown, end: (member: EtcdMember) => unknown): StoreFault => ({
    name,
    strike: async () => {
      const member = await victim();
      await begin(member);
      return async () => void (await end(member));
    },
  });
  return {
    name: 'etcd',
    stanza: `"etcd" { address = "${endpoints.join(',')}" }`,
    workers: 1,
    open: async () => etcdStorage({ endpoints }),
    faults: [
      fault(
        'a member of etcd is killed',
        (member) => member.kill(),
        (member) => member.start(),
      ),
      fault(
        'a member of etcd is frozen',
        (member) => member.freeze(),
        (member) => member.thaw(),
      ),
      fault(
        'a member of etcd is cut off from the others',
        (member) => member.isolate(),
        (member) => member.heal(),
      ),
    ],
    stop: async () => etcd.stop(),
  };
}
