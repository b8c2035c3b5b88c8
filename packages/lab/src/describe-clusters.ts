import { describeWhere } from './describe-where.ts';
import { kubeApiserverMissing, startKubeApiserver } from './kube-apiserver.ts';
import { startKubernetesApi } from './kubernetes-api.ts';
import type { KubernetesCluster } from './kubernetes-cluster.ts';

/** The same tests on an emulated API server, and on a real one where there is one. */
export function describeOnClusters(title: string, body: (start: () => Promise<KubernetesCluster>) => void): void {
  describeWhere(undefined, `${title}, on an emulated API server`, () => body(startKubernetesApi));
  describeWhere(kubeApiserverMissing(), `${title}, on a real API server`, () => body(startKubeApiserver));
}
