import { BadRequest } from '@strongroom/engine-sdk';
import { isOwnCluster, kubernetesHost, PodFiles, trustedCa, type PodEnvironment } from '@strongroom/kubernetes-client';
import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import type { Target } from './api-call.ts';
import { checkConnection, type KubernetesConnection } from './connection.ts';
import { KubernetesSession } from './session.ts';

/** @throws ConfigurationInvalid, also where the files of a pod are needed and this server runs in none */
export async function openKubernetes(
  connection: KubernetesConnection,
  host: DestinationHost,
  { podFolder, environment }: { readonly podFolder: string; readonly environment: PodEnvironment },
): Promise<DestinationSession> {
  const [fault] = checkConnection(connection, environment);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const pod = new PodFiles(podFolder, { millis: () => host.now().getTime() });
  const target = async (): Promise<Target> => targetOf(connection, pod, environment);
  await target();
  return new KubernetesSession(connection, host, target);
}

/** The token of a pod goes to the API server of its own cluster alone, as the pod's CA vouches for it. */
async function targetOf(connection: KubernetesConnection, pod: PodFiles, environment: PodEnvironment): Promise<Target> {
  const address = {
    kubernetes_host: kubernetesHost(connection.kubernetes_host || (environment.host() ?? '')),
    kubernetes_ca_cert: connection.kubernetes_ca_cert ?? '',
  };
  try {
    const ca = await trustedCa(address, pod);
    const configured = connection.service_account_jwt?.trim();
    const bearer = configured || ((await isOwnCluster(address, pod)) ? await pod.token() : undefined);
    if (bearer === undefined) {
      throw new ConfigurationInvalid('service_account_jwt is required: this server has no token of a pod for that API server');
    }
    return { url: address.kubernetes_host, ca, bearer };
  } catch (error) {
    throw error instanceof BadRequest ? new ConfigurationInvalid(error.message) : error;
  }
}
