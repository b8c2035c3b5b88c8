import { BadRequest, f } from '@strongroom/engine-sdk';
import { kubernetesHost, requireCertificates, type PodEnvironment } from '@strongroom/kubernetes-client';
import { Type, type Static } from 'typebox';

/** What `sys/sync/destinations/kubernetes/<name>` takes, beyond the fields of every destination. */
export const KubernetesConnection = Type.Object({
  kubernetes_host: f.string(
    'URL of the API server, such as https://10.0.0.1:6443. Default: the cluster of the pod in which this server runs.',
  ),
  kubernetes_ca_cert: f.string('PEM of the CAs to trust for the API server. Default: the CA of the pod in which this server runs.'),
  service_account_jwt: f.secret('Token of the account that writes the Secrets. Default: the token of the pod in which this server runs.'),
  namespace: f.string('Namespace that the Secrets lie in.', { required: true }),
  secret_type: f.string('Type of the Secrets, such as kubernetes.io/tls.', { default: 'Opaque' }),
});
export type KubernetesConnection = Static<typeof KubernetesConnection>;

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const TYPE = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$/;

/** Types whose Secrets the cluster itself fills, or reads as tokens of its own. */
const OF_THE_CLUSTER = ['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'];

/** Everything wrong with a connection, without asking the API server. */
export function checkConnection(connection: KubernetesConnection, pod: PodEnvironment): string[] {
  const { kubernetes_host: host, kubernetes_ca_cert: ca, service_account_jwt: token, namespace, secret_type: type } = connection;
  const faults: string[] = [];
  if (host || pod.host() === undefined)
    faults.push(...complaints(() => kubernetesHost(host ?? ''), 'kubernetes_host is required outside a pod'));
  if (ca?.trim()) faults.push(...complaints(() => requireCertificates(ca, 'kubernetes_ca_cert')));
  if (token && /[^\x21-\x7e]/.test(token.trim())) faults.push('service_account_jwt has a space or another character that no token has');
  if (!NAMESPACE.test(namespace)) faults.push('namespace must be the name of a namespace, such as team-a');
  if (!TYPE.test(type)) faults.push('secret_type must be a type of Secrets, such as Opaque or kubernetes.io/tls');
  if (OF_THE_CLUSTER.includes(type)) faults.push(`secret_type must not be ${type}: the cluster itself fills such Secrets`);
  return faults;
}

function complaints(check: () => unknown, empty?: string): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return [error.message === 'no host provided' && empty !== undefined ? empty : error.message];
  }
}
