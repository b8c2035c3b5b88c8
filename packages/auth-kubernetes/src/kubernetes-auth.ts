import { roleHolders } from '@strongroom/auth-sdk';
import { API_VERSION, pageOfHolders, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { POD_FOLDER, PodFiles } from '@strongroom/kubernetes-client';
import { Clusters } from './clusters.ts';
import { ConfigStore } from './config-store.ts';
import { configPath } from './path-config.ts';
import { configTestPath } from './path-config-test.ts';
import { loginPath } from './path-login.ts';
import { rolePaths } from './path-roles.ts';
import { roles } from './role.ts';
import { renew } from './renewal.ts';
import { Trace } from './trace.ts';

export interface KubernetesAuthOptions {
  /** Where `ca.crt` and `token` of this process's service account are. Default: `POD_FOLDER`. */
  readonly podFolder?: string;
}

/** The login method `kubernetes`: service accounts of a cluster, with tokens that its API server reviews. */
export const kubernetesAuth: EnginePackage = kubernetesAuthWith();

/** The same with other options, for programs that embed it. */
export function kubernetesAuthWith({ podFolder = POD_FOLDER }: KubernetesAuthOptions = {}): EnginePackage {
  return {
    name: 'kubernetes',
    kind: 'auth',
    apiVersion: API_VERSION,
    version: '0.1.0',
    exactAliases: true,
    create: (host) => create(host, podFolder),
  };
}

function create(host: EngineHost, podFolder: string): Engine {
  const { clock, log, storage } = host;
  const pod = new PodFiles(podFolder, clock);
  const configs = new ConfigStore(storage);
  const clusters = new Clusters(host.circuit('Kubernetes API server'), { clock, pod });
  const logins = new Trace(clock, ({ ok, fault, ...report }) => {
    if (!ok) log[fault ? 'warn' : 'info']('a Kubernetes login failed', { mount: host.mount.path, ...report });
  });
  return {
    paths: [
      configPath(configs, pod),
      configTestPath(configs, { clock, pod }),
      ...rolePaths(storage),
      loginPath(configs, clusters, clock, logins),
    ],
    stillGrants: async ({ role }, tx) => roles(tx).has(String(role)),
    policyHolders: async (query) => pageOfHolders([roleHolders('role', 'role', roles(storage))], query),
    renewAuth: renew,
    close: async () => clusters.close(),
  };
}
