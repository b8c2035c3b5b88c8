import type { CoreResponse } from '@strongroom/core';
import { keptLog, mountForTest, type LogLine, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { OidcIssuer } from '@strongroom/lab';
import { jwtAuth } from '../src/index.ts';

export interface MountedJwt extends TestMount {
  readonly lines: LogLine[];
  login(role: string, jwt: string, remoteAddress?: string): Promise<CoreResponse>;
  renew(token: string): Promise<CoreResponse>;
}

/** The login method in a whole core, with its log kept. Its clock stands at the issuer's time. */
export async function mounted(issuer?: OidcIssuer, options: TestMountOptions = {}): Promise<MountedJwt> {
  const { log, lines } = keptLog();
  const mount = await mountForTest(jwtAuth, { log, ...options });
  if (issuer) issuer.clock = () => Math.floor(mount.clock.millis() / 1_000);
  return {
    ...mount,
    lines,
    login: async (role, jwt, remoteAddress = '127.0.0.1') =>
      mount.call('update', `${mount.path}/login`, { data: { role, jwt }, token: '', remoteAddress }),
    renew: async (token) => mount.call('update', 'auth/token/renew-self', { data: {}, token }),
  };
}

/** A role that takes any token for `strongroom`. */
export const anyone = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'strongroom' };
