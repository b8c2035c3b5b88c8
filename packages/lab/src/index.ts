export { makeCertificate, type CertificateOrder, type MadeCertificate } from './certificate-maker.ts';
export { makeOcspResponse, makeRevocationList, type OcspAnswer, type RevocationOrder } from './revocation-maker.ts';
export { startRevocationServer, type RevocationServer } from './revocation-server.ts';
export { bundledServer } from './bundled-server.ts';
export { type CallCutter, type Loss, startCallCutter } from './call-cutter.ts';
export { type CassandraOptions, type CassandraServer, findCassandra, startCassandra } from './cassandra-server.ts';
export { describeOnClusters } from './describe-clusters.ts';
export { describeWhere } from './describe-where.ts';
export { etcdMissing, startEtcd, type EtcdCluster, type EtcdMember, type EtcdOptions } from './etcd-cluster.ts';
export { findProgram } from './find-program.ts';
export { accountTemplates, GROUPS_DN, PEOPLE_DN, peopleBelow, referralEntry, serviceAccountConfig } from './directory-settings.ts';
export { startDirectory, type Directory, type DirectoryPerson } from './directory-server.ts';
export { type FreezingProxy, type Interception, startFreezingProxy } from './freezing-proxy.ts';
export { type FerretdbOptions, type FerretdbServer, findFerretdb, startFerretdb } from './ferretdb-server.ts';
export { type ClusterObject, ClusterObjects } from './cluster-objects.ts';
export type { ClusterAnswer } from './cluster-status.ts';
export type { ApiFront, ApiMood, ApiRequest, ApiWatch } from './api-front.ts';
export { type KubernetesApi, type KubernetesApiOptions, startKubernetesApi } from './kubernetes-api.ts';
export type { ClusterRequest, KubernetesCluster } from './kubernetes-cluster.ts';
export { kubeApiserverMissing, startKubeApiserver, type KubeApiserver } from './kube-apiserver.ts';
export { freePort, freePorts } from './loopback.ts';
export {
  describeWithMariadb,
  mariadbMissing,
  startMariadb,
  type MariadbLoginTls,
  type MariadbOptions,
  type MariadbServer,
} from './mariadb-server.ts';
export { describeWithMoto, motoMissing, startMoto, type MotoOptions, type MotoServer } from './moto-server.ts';
export { MotoDoor } from './moto-door.ts';
export {
  startOidcIssuer,
  type IssuerAlgorithm,
  type IssuerOutage,
  type OidcIssuer,
  type OidcIssuerOptions,
  type SignOptions,
} from './oidc-issuer.ts';
export { findNeo4j, type Neo4jServer, startNeo4j } from './neo4j-server.ts';
export { openbaoMissing, type OpenbaoServer, startOpenbao } from './openbao-server.ts';
export { type Pgbouncer, pgbouncerMissing, startPgbouncer } from './pgbouncer.ts';
export {
  embeddedPostgres,
  findPostgres,
  standbyMissing,
  startPostgres,
  type PostgresOptions,
  type PostgresServer,
} from './postgres-server.ts';
export { adGroup, adUser, windowsTime, type AdUser } from './samba-entries.ts';
export { describeWithSamba, sambaMissing, startSamba, type SambaOptions, type SambaServer } from './samba-server.ts';
export { describeWithSlapd, slapdMissing, startSlapd, type Slapd, type SlapdOptions } from './slapd-server.ts';
export { addOpenidProvider } from './openid/add-provider.ts';
export type { TokenRequest } from './service-account-tokens.ts';
export { visitProvider, type SentBack } from './openid/browser.ts';
export { OpenidProvider, type ProviderEndpoint, type ProviderFault } from './openid/openid-provider.ts';
export type { Person, ProviderClient, ProviderParts } from './openid/provider-parts.ts';
export { createTestCa, type TestCa, type TestCertificate } from './test-ca.ts';
export { type MysqlOptions, type MysqlServer, startMysql } from './mysql-server.ts';
export { findMysql, findValkey, type Unpacked } from './unpacked-server.ts';
export { redisMissing, startRedis, type RedisOptions, type RedisServer } from './redis-server.ts';
export { startStallingProxy, type StallingProxy } from './stalling-proxy.ts';
export { influxdbMissing, startInfluxdb, type InfluxdbServer } from './influxdb-server.ts';
export { findOpensearch, type OpensearchServer, startOpensearch } from './opensearch-server.ts';
export { startOpensearchDouble, type OpensearchDouble } from './opensearch-double.ts';
export { rsaKeyPair, type RsaKeyPair } from './rsa-keys.ts';
export { describeWithRabbitmq, rabbitmqMissing, startRabbitmq, type RabbitmqServer } from './rabbitmq-server.ts';
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
export { startTlsFront, type TlsFront } from './tls-front.ts';
