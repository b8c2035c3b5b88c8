import type { CoreResponse } from '@strongroom/core';
import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { HashingLimits } from '../src/hashing-bulkhead.ts';
import { cheap } from './cheap.ts';

export interface MountedUserpass extends TestMount {
  login(username: string, password: string, remoteAddress?: string): Promise<CoreResponse>;
  /** Status and texts of a login that is refused, `in` of another. */
  outcome(username: string, password: string, remoteAddress?: string): Promise<string>;
  renew(token: string): Promise<CoreResponse>;
}

/** The login method in a whole core, with passwords that cost little to hash. */
export async function mounted({ limits, ...options }: TestMountOptions & { limits?: HashingLimits } = {}): Promise<MountedUserpass> {
  const mount = await mountForTest(cheap(limits), options);
  const login = async (username: string, password: string, remoteAddress = '127.0.0.1'): Promise<CoreResponse> =>
    mount.call('update', `${mount.path}/login/${username}`, { data: { password }, token: '', remoteAddress });
  return {
    ...mount,
    login,
    outcome: async (username, password, remoteAddress) => {
      const { status, auth, errors } = await login(username, password, remoteAddress);
      return auth ? 'in' : `${status} ${(errors ?? []).join()}`;
    },
    renew: async (token) => mount.call('update', 'auth/token/renew-self', { data: {}, token }),
  };
}

export const WRONG = '400 invalid username or password';
export const DENIED = '403 permission denied';
