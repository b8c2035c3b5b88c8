import { type AnyPath, type Clock, path, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { hostInfo, HostInfo } from './host-info.ts';

export interface HostInfoPathDeps {
  readonly clock: Clock;
  /** Looks at the machine; tests bring another one. */
  readonly look?: (now: Date) => Promise<HostInfo>;
}

/** `sys/host-info`. */
export function hostInfoPaths({ clock, look = hostInfo }: HostInfoPathDeps): AnyPath[] {
  return [
    path('host-info', {
      synopsis: 'The machine that this server runs on.',
      description: 'Processors, memory, disks and operating system.',
      fields: {},
    }).read({
      summary: 'Read about the machine',
      response: Type.Object({ timestamp: Timestamp, ...HostInfo.properties }),
      handle: async () => {
        const now = clock.now();
        return { data: { timestamp: now.toISOString(), ...(await look(now)) } };
      },
    }),
  ];
}
