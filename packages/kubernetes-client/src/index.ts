export { hostWarnings, isOwnCluster, kubernetesHost, requireCertificates, trustedCa, type ConfiguredAddress } from './address.ts';
export {
  ApiServer,
  LIMITS,
  objectOf,
  unexpectedAnswer,
  type ApiAnswer,
  type ApiCall,
  type ApiServerAddress,
  type ApiServerParts,
} from './api-server.ts';
export { ApiServerFailed, reasonOf } from './api-server-failed.ts';
export { ApiServers } from './api-servers.ts';
export { parseSelector, selects, type LabelSelector, type SelectorField } from './label-selector.ts';
export { namespaceLabels, type NamespaceLabels } from './namespace-labels.ts';
export { probe } from './probe.ts';
export { PodEnvironment } from './pod-environment.ts';
export { POD_FOLDER, PodFiles } from './pod-files.ts';
