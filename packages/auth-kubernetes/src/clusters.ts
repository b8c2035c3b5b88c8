import type { KeyObject } from 'node:crypto';
import type { Circuit, Clock } from '@strongroom/engine-sdk';
import {
  ApiServerFailed,
  ApiServers,
  isOwnCluster,
  reasonOf,
  trustedCa,
  type ApiServer,
  type PodFiles,
} from '@strongroom/kubernetes-client';
import type { KubernetesConfig } from './config.ts';
import { publicKeys } from './pem-keys.ts';

/** A configuration made ready for logins. */
export interface Cluster {
  readonly config: KubernetesConfig;
  readonly api: ApiServer;
  readonly keys: readonly KeyObject[];
  /** The token that reviews are asked with; undefined: each token's own. */
  readonly reviewer: string | undefined;
}

export interface ClusterParts {
  readonly clock: Clock;
  readonly pod: PodFiles;
}

/** The cluster of a mount, whose API server stays open. */
export class Clusters {
  readonly #pod: PodFiles;
  readonly #servers: ApiServers;
  #keys: { readonly pem: readonly string[]; readonly parsed: readonly KeyObject[] } = { pem: [], parsed: [] };

  constructor(circuit: Circuit, { clock, pod }: ClusterParts) {
    this.#pod = pod;
    this.#servers = new ApiServers(circuit, clock);
  }

  /** @throws ApiServerFailed where the CA of the pod is needed and no longer there */
  async use<T>(config: KubernetesConfig, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    const ca = await trustedCa(config, this.#pod).catch((error: unknown) => {
      throw new ApiServerFailed('cannot be reached', reasonOf(error));
    });
    const reviewer = await reviewerOf(config, this.#pod);
    const keys = this.#keysOf(config.pem_keys);
    return this.#servers.use({ url: config.kubernetes_host, ca }, async (api) => work({ config, api, keys, reviewer }));
  }

  /** Ends everything, also what is under way. */
  close(): void {
    this.#servers.close();
  }

  /** Parsed once. */
  #keysOf(pem: readonly string[]): readonly KeyObject[] {
    const same = this.#keys.pem.length === pem.length && pem.every((one, index) => one === this.#keys.pem[index]);
    if (!same) this.#keys = { pem, parsed: publicKeys(pem) };
    return this.#keys.parsed;
  }
}

export async function reviewerOf(config: KubernetesConfig, pod: PodFiles): Promise<string | undefined> {
  if (config.token_reviewer_jwt !== '') return config.token_reviewer_jwt;
  return (await podTokenUse(config, pod)) === 'sent' ? pod.token() : undefined;
}

/** Whether reviews are asked with the pod's token, and whether there is one that is withheld because another CA vouches for the server. */
export async function podTokenUse(config: KubernetesConfig, pod: PodFiles): Promise<'sent' | 'withheld' | 'none'> {
  if (config.token_reviewer_jwt !== '' || config.disable_local_ca_jwt || (await pod.token()) === undefined) return 'none';
  return (await isOwnCluster(config, pod)) ? 'sent' : 'withheld';
}
