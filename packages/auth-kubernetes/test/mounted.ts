import type { CoreResponse } from '@strongroom/core';
import {
  keptLog,
  manualClock,
  mountForTest,
  type LogLine,
  type ManualClock,
  type TestMount,
  type TestMountOptions,
} from '@strongroom/engine-testkit';
import { startKubernetesApi, type KubernetesApi } from '@strongroom/lab';
import { kubernetesAuthWith } from '../src/index.ts';

export interface MountedKubernetes extends TestMount {
  readonly api: KubernetesApi;
  readonly lines: LogLine[];
  /** The configuration that reaches `api`, with its reviewer. */
  readonly config: Readonly<Record<string, unknown>>;
  login(role: string, jwt: string, remoteAddress?: string): Promise<CoreResponse>;
  renew(token: string): Promise<CoreResponse>;
  stop(): Promise<void>;
}

export interface MountedOptions extends TestMountOptions {
  readonly podFolder?: string;
}

/** The login method in a whole core, configured for an emulated API server that has the same clock. Its log is kept. */
export async function mounted({ podFolder = '/no/pod/here', ...options }: MountedOptions = {}): Promise<MountedKubernetes> {
  const clock: ManualClock = options.clock ?? manualClock();
  const api = await startKubernetesApi({ now: () => clock.millis() });
  const { log, lines } = keptLog();
  const mount = await mountForTest(kubernetesAuthWith({ podFolder }), { log, ...options, clock });
  const config = { kubernetes_host: api.url, kubernetes_ca_cert: api.ca, token_reviewer_jwt: api.reviewer };
  await mount.write('config', config);
  return {
    ...mount,
    api,
    lines,
    config,
    login: async (role, jwt, remoteAddress = '127.0.0.1') =>
      mount.call('update', `${mount.path}/login`, { data: { role, jwt }, token: '', remoteAddress }),
    renew: async (token) => mount.call('update', 'auth/token/renew-self', { data: {}, token }),
    stop: async () => {
      await mount.close();
      await api.stop();
    },
  };
}

/** A role that takes the account `app` of the namespace `default`. */
export const appRole = {
  bound_service_account_names: 'app',
  bound_service_account_namespaces: 'default',
  audience: 'strongroom',
  token_policies: 'app',
} as const;

export const forStrongroom = { audiences: ['strongroom'] } as const;
