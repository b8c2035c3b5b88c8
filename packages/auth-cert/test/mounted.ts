import type { CoreResponse } from '@strongroom/core';
import { keptLog, mountForTest, type LogLine, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { MadeCertificate } from '@strongroom/lab';
import { certAuth } from '../src/index.ts';

export interface MountedCert extends TestMount {
  readonly lines: LogLine[];
  /** Logs in with a certificate and what belongs to it of its path. */
  login(shown: MadeCertificate | undefined, data?: Record<string, unknown>, remoteAddress?: string): Promise<CoreResponse>;
  renew(token: string, shown?: MadeCertificate): Promise<CoreResponse>;
}

/** The login method in a whole core, with its log kept. */
export async function mounted(options: TestMountOptions = {}): Promise<MountedCert> {
  const { log, lines } = keptLog();
  const mount = await mountForTest(certAuth, { log, ...options });
  return {
    ...mount,
    lines,
    login: async (shown, data = {}, remoteAddress = '127.0.0.1') =>
      mount.call('update', `${mount.path}/login`, { data, token: '', remoteAddress, certificates: shown?.path ?? [] }),
    renew: async (token, shown) => mount.call('update', 'auth/token/renew-self', { data: {}, token, certificates: shown?.path ?? [] }),
  };
}

/** The answers that refuse a login. */
export const REFUSALS = {
  none: { status: 400, errors: ['no client certificate found'] },
  untrusted: { status: 400, errors: ['invalid certificate or no client certificate supplied'] },
  unfit: { status: 400, errors: ['no chain matching all constraints could be found for this login certificate'] },
} as const;
