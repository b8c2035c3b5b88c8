import { path, type AnyPath, type Clock } from '@strongroom/engine-sdk';
import { hostInfo, type HostInfo } from './host-info.ts';

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
      handle: async () => {
        const now = clock.now();
        return { data: { timestamp: now.toISOString(), ...(await look(now)) } };
      },
    }),
  ];
}
