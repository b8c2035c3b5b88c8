import { manualClock, mountForTest, type ManualClock, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import { startKubernetesApi, type KubernetesApi, type KubernetesCluster } from '@strongroom/lab';
import { kubernetesEngineWith } from '../src/index.ts';

export interface MountedEngine extends TestMount {
  readonly api: KubernetesApi;
  readonly config: Readonly<Record<string, unknown>>;
  /** The names of all objects in the cluster that leases made. */
  left(): string[];
  stop(): Promise<void>;
}

/** The engine, outside any pod. */
export const engine = kubernetesEngineWith({ podFolder: '/no/pod/here', environment: {} });

/** The parameters of `config` for the server. */
export function configFor({ url, ca, manager }: KubernetesCluster): Record<string, unknown> {
  return { kubernetes_host: url, kubernetes_ca_cert: ca, service_account_jwt: manager };
}

/** A role whose rules are generated. */
export const READS_PODS = {
  allowed_kubernetes_namespaces: 'default,prod',
  generated_role_rules: 'rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]',
} as const;

/** The engine at `kubernetes/`, configured for an emulated API server with the same clock, which has the account `default/app`. */
export async function mountedEngine(options: TestMountOptions = {}): Promise<MountedEngine> {
  const clock: ManualClock = options.clock ?? manualClock();
  const api = await startKubernetesApi({ now: () => clock.millis() });
  addAccount(api, 'default', 'app');
  const mount = await mountForTest(engine, { path: 'kubernetes', ...options, clock });
  const config = configFor(api);
  await mount.write('config', config);
  return {
    ...mount,
    api,
    config,
    left: () => leftIn(api),
    stop: async () => {
      await mount.close();
      await api.stop();
    },
  };
}

export function addAccount(api: KubernetesApi, namespace: string, name: string): void {
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name, namespace } };
  api.objects.answer('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, JSON.stringify(account));
}

/** All objects but the account `app`. */
export function leftIn({ objects }: KubernetesApi): string[] {
  const kinds = ['ServiceAccount', 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'];
  return kinds
    .flatMap((kind) => objects.names(kind).map((name) => `${kind} ${name}`))
    .filter((name) => name !== 'ServiceAccount default/app');
}
