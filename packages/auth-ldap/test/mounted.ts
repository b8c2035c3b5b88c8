import { keptLog, mountForTest, type LogLine, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { CoreResponse } from '@strongroom/core';
import { ldapAuth } from '../src/index.ts';

export interface MountedLdap extends TestMount {
  readonly lines: LogLine[];
  login(username: string, data?: Record<string, unknown>, remoteAddress?: string): Promise<CoreResponse>;
  renew(token: string): Promise<CoreResponse>;
}

/** The login method in a whole core, with its log kept. */
export async function mounted(options: TestMountOptions = {}): Promise<MountedLdap> {
  const { log, lines } = keptLog();
  const mount = await mountForTest(ldapAuth, { log, ...options });
  return {
    ...mount,
    lines,
    login: async (username, data = {}, remoteAddress = '127.0.0.1') =>
      mount.call('update', `${mount.path}/login/${username}`, { data, token: '', remoteAddress }),
    renew: async (token) => mount.call('update', 'auth/token/renew-self', { data: {}, token }),
  };
}

export { GROUPS_DN as groups, PEOPLE_DN as people, serviceAccountConfig as serviceConfig } from '@strongroom/lab';
