import type { KeyObject } from 'node:crypto';
import { BadRequest, Unavailable, type Circuit, type Clock } from '@strongroom/engine-sdk';
import { ApiServer } from './api-server.ts';
import type { KubernetesConfig } from './config.ts';
import { ApiServerFailed, reasonOf } from './failures.ts';
import { publicKeys } from './pem-keys.ts';
import type { PodFiles } from './pod-files.ts';

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

/** An open API server, and who uses it. */
interface Opened {
  readonly key: string;
  readonly api: ApiServer;
  readonly keys: readonly KeyObject[];
  users: number;
}

/**
 * The cluster of a mount. Its connections stay open until a login comes with another host, CA or key; calls that are under way then end on the old ones.
 */
export class Clusters {
  readonly #parts: ClusterParts;
  readonly #circuit: Circuit;
  readonly #opened = new Set<Opened>();
  #present: Opened | undefined;
  #closed = false;

  constructor(circuit: Circuit, parts: ClusterParts) {
    circuit.configure({ threshold: 5, pause: 2_000, longestPause: 15_000 });
    this.#circuit = circuit;
    this.#parts = parts;
  }

  /** @throws ApiServerFailed where the CA of the pod is needed and no longer there */
  async use<T>(config: KubernetesConfig, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    const { pod } = this.#parts;
    const ca = await trustedCa(config, pod).catch((error: unknown) => {
      throw new ApiServerFailed('cannot be reached', reasonOf(error));
    });
    const reviewer = await reviewerOf(config, pod);
    if (this.#closed) throw new Unavailable('the mount is closed');
    const opened = this.#open(config, ca);
    opened.users += 1;
    try {
      return await work({ config, api: opened.api, keys: opened.keys, reviewer });
    } finally {
      opened.users -= 1;
      this.#closeIfDone(opened);
    }
  }

  /** Ends everything, also what is under way. */
  close(): void {
    this.#closed = true;
    this.#present = undefined;
    for (const { api } of this.#opened) api.close();
    this.#opened.clear();
  }

  #open(config: KubernetesConfig, ca: string | undefined): Opened {
    const key = JSON.stringify([config.kubernetes_host, ca, config.pem_keys]);
    const present = this.#present;
    if (present?.key === key) return present;
    const address = { url: config.kubernetes_host, ca };
    const api = new ApiServer(address, { clock: this.#parts.clock, circuit: this.#circuit });
    const opened: Opened = { key, api, keys: publicKeys(config.pem_keys), users: 0 };
    this.#opened.add(opened);
    this.#present = opened;
    if (present) {
      this.#circuit.reset();
      this.#closeIfDone(present);
    }
    return opened;
  }

  #closeIfDone(opened: Opened): void {
    if (opened === this.#present || opened.users > 0 || !this.#opened.delete(opened)) return;
    opened.api.close();
  }
}

/** The CAs that vouch for the API server; undefined for `http`. @throws BadRequest */
export async function trustedCa(config: KubernetesConfig, pod: PodFiles): Promise<string | undefined> {
  if (config.kubernetes_host.startsWith('http:')) return undefined;
  if (config.kubernetes_ca_cert.trim() !== '') return config.kubernetes_ca_cert;
  const ca = await pod.ca();
  if (ca === undefined)
    throw new BadRequest(
      `kubernetes_ca_cert: there is no ca.crt in ${pod.folder}, so this server is in no pod; send the PEM of the cluster's CA`,
    );
  return ca;
}

/** The token of the pod goes only to a server that the pod's own CA vouches for: whoever writes the configuration must not have it sent elsewhere. */
export async function reviewerOf(config: KubernetesConfig, pod: PodFiles): Promise<string | undefined> {
  if (config.token_reviewer_jwt !== '') return config.token_reviewer_jwt;
  return (await podTokenUse(config, pod)) === 'sent' ? pod.token() : undefined;
}

/** Whether reviews are asked with the pod's token, and whether there is one that is withheld because another CA vouches for the server. */
export async function podTokenUse(config: KubernetesConfig, pod: PodFiles): Promise<'sent' | 'withheld' | 'none'> {
  if (config.token_reviewer_jwt !== '' || config.disable_local_ca_jwt || (await pod.token()) === undefined) return 'none';
  const ca = await trustedCa(config, pod);
  return ca !== undefined && ca.trim() === (await pod.ca())?.trim() ? 'sent' : 'withheld';
}
