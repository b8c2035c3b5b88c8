import type { ApiFront } from './api-front.ts';
import type { ClusterAnswer } from './cluster-status.ts';

/** What an administrator asks an API server. */
export interface ClusterRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
  /** Content type of the body; default `application/json`. */
  readonly type?: string;
  readonly accept?: string;
  /** Default: that of `manager`. */
  readonly bearer?: string;
}

/** A cluster that tests work with, emulated or real: behind a front that counts and misbehaves. It has the namespaces `default` and `prod`. */
export interface KubernetesCluster extends ApiFront {
  /** A token of somebody who may do everything. It is in no review's list of accounts. */
  readonly manager: string;
  /** Asks past the front: nothing is counted, and no mood matters. */
  ask(request: ClusterRequest): Promise<ClusterAnswer>;
}
