import type { ClusterRequest, KubernetesCluster } from '@strongroom/lab';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LISTS = {
  ServiceAccount: '/api/v1/serviceaccounts',
  Role: `${RBAC}/roles`,
  ClusterRole: `${RBAC}/clusterroles`,
  RoleBinding: `${RBAC}/rolebindings`,
  ClusterRoleBinding: `${RBAC}/clusterrolebindings`,
} as const;

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** What the administrator of a cluster does. @throws Error with the answer of the API server */
export async function done(cluster: KubernetesCluster, request: ClusterRequest): Promise<Readonly<Record<string, unknown>>> {
  const { code, body } = await cluster.ask(request);
  if (code >= 300) throw new Error(`${request.method} ${request.path}: ${code} ${JSON.stringify(body)}`);
  return body;
}

/** All objects in a cluster with the names that leases give, as `<kind> <namespace>/<name>`. */
export async function madeIn(cluster: KubernetesCluster): Promise<string[]> {
  return (await found(cluster)).map(({ title }) => title);
}

/** Removes them, for the next test on the same cluster. */
export async function sweep(cluster: KubernetesCluster): Promise<void> {
  for (const { path } of await found(cluster)) await done(cluster, { method: 'DELETE', path });
}

async function found(cluster: KubernetesCluster): Promise<{ title: string; path: string }[]> {
  const lists = Object.entries(LISTS).map(async ([kind, list]) => {
    const { items } = await done(cluster, { method: 'GET', path: list });
    const names = ((items ?? []) as Listed[]).filter(({ metadata }) => metadata.name.startsWith('v-'));
    return names.map(({ metadata: { name, namespace } }) => ({
      title: `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`,
      path: `${namespace === undefined ? list : list.replace(/(?=\/\w+$)/, `/namespaces/${namespace}`)}/${name}`,
    }));
  });
  return (await Promise.all(lists)).flat();
}
