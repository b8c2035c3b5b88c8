export { KubernetesConnection } from './connection.ts';
export { createKubernetesDestination, kubernetesDestination, type KubernetesDestinationOptions } from './plugin.ts';
