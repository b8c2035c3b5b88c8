import { BadRequest, WatchedCircuit, type EngineHost } from '@strongroom/engine-sdk';
import {
  ApiServerFailed,
  ApiServers,
  isOwnCluster,
  reasonOf,
  trustedCa,
  type ApiServer,
  type PodFiles,
} from '@strongroom/kubernetes-client';
import { CONFIG, recordsIn, type ConfigRecord } from './records.ts';

/** The API server of a configuration, and the token that it is asked with. */
export interface Access {
  readonly api: ApiServer;
  readonly bearer: string;
}

/** The cluster of a mount. Its connections stay open; the token is read again for each use, because Kubernetes replaces that of a pod. */
export class Cluster {
  /** What leases and intents of the mount have as their target. */
  readonly target: string;
  readonly circuit: WatchedCircuit;
  readonly pod: PodFiles;
  readonly #host: EngineHost;
  readonly #servers: ApiServers;

  constructor(host: EngineHost, pod: PodFiles) {
    this.target = `mount ${host.mount.path}`;
    this.pod = pod;
    this.#host = host;
    this.circuit = new WatchedCircuit(host.circuit(this.target), host.clock, textOf);
    this.#servers = new ApiServers(this.circuit, host.clock);
  }

  /** @throws BadRequest without a configuration or a token, ApiServerFailed, Unavailable, and what the work throws */
  async use<T>(work: (access: Access) => Promise<T>): Promise<T> {
    const config = await recordsIn(this.#host.storage).config.get(CONFIG);
    if (!config) throw new BadRequest('could not load backend configuration: write kubernetes_host to config first');
    const ca = await trustedCa(config, this.pod).catch((error: unknown) => {
      throw new ApiServerFailed('cannot be reached', reasonOf(error));
    });
    const bearer = await bearerOf(config, this.pod);
    if (bearer === undefined) throw new BadRequest(NO_TOKEN);
    return this.#servers.use({ url: config.kubernetes_host, ca }, async (api) => work({ api, bearer }));
  }

  close(): void {
    this.#servers.close();
  }
}

/** Why calls cannot be made, in the operator's words. */
export const NO_TOKEN =
  "service_account_jwt is not set, and this server has no pod's token for that API server: write service_account_jwt to config";

/** The token that the API server is asked with: the configured one, or that of the pod for the pod's own cluster alone. */
export async function bearerOf(config: ConfigRecord, pod: PodFiles): Promise<string | undefined> {
  if (config.service_account_jwt !== '') return config.service_account_jwt;
  if (config.disable_local_ca_jwt || !(await isOwnCluster(config, pod))) return undefined;
  return pod.token();
}

/** What went wrong, for operators. Contains no secret: the client strikes them out. */
export function textOf(error: unknown): string {
  if (!(error instanceof ApiServerFailed)) return reasonOf(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}
