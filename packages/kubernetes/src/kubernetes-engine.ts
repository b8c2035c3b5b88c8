import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { POD_FOLDER, PodEnvironment, PodFiles } from '@strongroom/kubernetes-client';
import { Cluster } from './cluster.ts';
import { failingCluster } from './failing.ts';
import { OrphanedObjects } from './orphans.ts';
import { configPaths } from './path-config.ts';
import { configTestPath } from './path-config-test.ts';
import { credsPaths } from './path-creds.ts';
import { clusterFailingPath } from './path-failing.ts';
import { orphanPath } from './path-orphans.ts';
import { rolePaths } from './path-roles.ts';
import { statusPath } from './path-status.ts';
import { ServiceAccounts } from './service-accounts.ts';

/** What differs from the pod in which the process runs. */
export interface KubernetesEngineOptions {
  /** Where `ca.crt` and `token` of this process's service account are. Default: `POD_FOLDER`. */
  readonly podFolder?: string;
  /** The variables by which a pod knows its API server. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The secrets engine `kubernetes`: tokens of service accounts, with accounts, roles and bindings that are made for a lease. */
export const kubernetesEngine: EnginePackage = kubernetesEngineWith();

/** The same with other options, for programs that embed it. */
export function kubernetesEngineWith(options: KubernetesEngineOptions = {}): EnginePackage {
  return { name: 'kubernetes', kind: 'secret', apiVersion: API_VERSION, version: '0.1.0', create: (host) => create(host, options) };
}

function create(host: EngineHost, { podFolder = POD_FOLDER, environment = process.env }: KubernetesEngineOptions): Engine {
  const cluster = new Cluster(host, new PodFiles(podFolder, host.clock));
  const environmentOfPod = new PodEnvironment(environment);
  const accounts = new ServiceAccounts(host, cluster);
  const orphans = new OrphanedObjects(host, cluster, accounts);
  return {
    paths: [
      ...configPaths(host, cluster, environmentOfPod),
      configTestPath(host, cluster, environmentOfPod),
      ...rolePaths(host),
      ...credsPaths(host, accounts),
      statusPath(host, cluster),
      clusterFailingPath(host, cluster),
      orphanPath(orphans),
    ],
    secrets: [accounts.secret],
    intents: [accounts.intent, orphans.intent],
    system: () => ({ noun: 'cluster', name: '', path: 'config' }),
    failing: async () => failingCluster(host, cluster),
    outside: async () => accounts.outside(),
    close: async () => cluster.close(),
  };
}
