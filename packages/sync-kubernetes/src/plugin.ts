import { POD_FOLDER, PodEnvironment } from '@strongroom/kubernetes-client';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { checkConnection, KubernetesConnection } from './connection.ts';
import { KUBERNETES_LIMITS } from './limits.ts';

/** What differs from the pod in which the process runs. */
export interface KubernetesDestinationOptions {
  /** Where `ca.crt` and `token` of this process's service account are. Default: that of every pod. */
  readonly podFolder?: string;
  /** The variables by which a pod knows its API server. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The destination with other options, for programs that embed it. */
export function createKubernetesDestination(
  options: KubernetesDestinationOptions = {},
): SyncDestinationPlugin<typeof KubernetesConnection> {
  const environment = new PodEnvironment(options.environment ?? process.env);
  const podFolder = options.podFolder ?? POD_FOLDER;
  return {
    kind: 'sync-destination',
    name: 'kubernetes',
    title: 'Kubernetes Secrets',
    apiVersion: 2,
    version: '0.1.0',
    code: [new URL('.', import.meta.url).href, '@strongroom/kubernetes-client'],
    connection: KubernetesConnection,
    fixed: ['kubernetes_host', 'namespace', 'secret_type'],
    options: {
      customTags: true,
      granularity: 'secret-path',
      secretNameTemplate: 'vault-{{ .MountAccessor }}-{{ .SecretPath }}',
    },
    ownership: 'marked',
    limits: () => KUBERNETES_LIMITS,
    check: (connection) => checkConnection(connection, environment),
    open: async (connection, host) => (await import('./open.ts')).openKubernetes(connection, host, { podFolder, environment }),
  };
}

/** Secret sync to Secrets of Kubernetes: `sys/sync/destinations/kubernetes/<name>`. */
export const kubernetesDestination: SyncDestinationPlugin<typeof KubernetesConnection> = createKubernetesDestination();
