import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnJava, type JavaInstallation } from './java-installation.ts';
import { freePorts } from './loopback.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export interface CassandraServer {
  readonly host: string;
  readonly port: number;
  /** The first user, who may do everything. */
  readonly superuser: string;
  readonly password: string;
  /** Halts it if it runs, and starts it again on the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

export interface CassandraOptions {
  /** PEM: speaks TLS too, on the same port. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

const START_TIMEOUT_MS = 90_000;

/** The folder with Cassandra's jars, fetched from Maven Central where that is possible; or why there is no server. */
export async function findCassandra(): Promise<JavaInstallation> {
  return findOnJava('cassandra', 'Cassandra');
}

/** One node that demands logins. Takes about five seconds and 600 MB, so one should do for all tests of a file. */
export async function startCassandra(options: CassandraOptions = {}): Promise<CassandraServer> {
  const found = await findCassandra();
  if ('missing' in found) throw new Error(found.missing);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-cassandra-'));
  const [port, storagePort] = (await freePorts(2)) as [number, number];
  await writeFile(join(folder, 'cassandra.yaml'), configuration(folder, port, storagePort, options));
  await writeFile(join(folder, 'logback.xml'), LOGBACK);
  const args = [
    ...moduleFlags(),
    '-Xms256m',
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Djdk.attach.allowAttachSelf=true',
    '-Dio.netty.tryReflectionSetAccessible=true',
    `-Dlogback.configurationFile=${folder}/logback.xml`,
    `-Dcassandra.config=file://${folder}/cassandra.yaml`,
    `-Dcassandra.storagedir=${folder}`,
    '-Dcassandra-foreground=yes',
    '-Dcassandra.superuser_setup_delay_ms=0',
    '-Dcassandra.skip_wait_for_gossip_to_settle=0',
    '-Dcassandra.ring_delay_ms=1',
    '-cp',
    join(found.folder, 'lib', '*'),
    'org.apache.cassandra.service.CassandraDaemon',
  ];
  const start = (ready: RegExp): Promise<ServerProcess> =>
    startProcess(found.java, { args, cwd: folder, ready, timeoutMs: START_TIMEOUT_MS });
  let running: ServerProcess | undefined;
  const halt = async (): Promise<void> => {
    // Asked politely it takes ten seconds; what was written is in the commit log either way.
    await running?.end('SIGKILL');
    running = undefined;
  };
  const stop = async (): Promise<void> => {
    await halt();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    running = await start(/Created default superuser role[^]*Starting listening|Starting listening[^]*Created default superuser role/);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    superuser: 'cassandra',
    password: 'cassandra',
    async restart() {
      await halt();
      running = await start(/Starting listening for CQL clients/);
    },
    stop,
  };
}

const LOGBACK = `<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT" /></root>
</configuration>
`;

/** What the server's own start script opens of Java to it. */
function moduleFlags(): string[] {
  const base =
    'java.io java.lang java.lang.reflect java.lang.module java.nio java.net java.util java.util.concurrent java.util.concurrent.atomic jdk.internal.loader jdk.internal.ref jdk.internal.reflect jdk.internal.math jdk.internal.module jdk.internal.util.jar jdk.internal.misc sun.nio.ch'
      .split(' ')
      .map((name) => `java.base/${name}`);
  const exported =
    'java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.rmi/sun.rmi.transport java.rmi/sun.rmi.transport.tcp java.sql/java.sql jdk.compiler/com.sun.tools.javac.file'.split(
      ' ',
    );
  const opened = ['jdk.management/com.sun.management.internal', 'java.management.rmi/com.sun.jmx.remote.internal.rmi'];
  return [
    ...[...base, ...opened].map((name) => `--add-opens=${name}=ALL-UNNAMED`),
    ...[...base, ...exported].map((name) => `--add-exports=${name}=ALL-UNNAMED`),
  ];
}

function configuration(folder: string, port: number, storagePort: number, { tls }: CassandraOptions): string {
  const folders = Object.entries({
    commitlog_directory: 'commitlog',
    saved_caches_directory: 'caches',
    hints_directory: 'hints',
    cdc_raw_directory: 'cdc',
  }).map(([key, name]) => `${key}: ${folder}/${name}`);
  // Caches would let users log in for a while with passwords that were changed.
  const validities = ['credentials', 'roles', 'permissions'].map((name) => `${name}_validity: 0ms`);
  return `${[
    'cluster_name: tests',
    'num_tokens: 1',
    'partitioner: org.apache.cassandra.dht.Murmur3Partitioner',
    'authenticator: PasswordAuthenticator',
    'authorizer: CassandraAuthorizer',
    'role_manager: CassandraRoleManager',
    ...validities,
    `seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "127.0.0.1:${storagePort}"}]}]`,
    `storage_port: ${storagePort}`,
    'listen_address: 127.0.0.1',
    'rpc_address: 127.0.0.1',
    `native_transport_port: ${port}`,
    'start_native_transport: true',
    'endpoint_snitch: SimpleSnitch',
    'commitlog_sync: periodic',
    'commitlog_sync_period: 10000ms',
    `data_file_directories: [${folder}/data]`,
    ...folders,
    'auto_bootstrap: false',
    ...(tls ? encryption(tls) : []),
  ].join('\n')}\n`;
}

function encryption({ ca, cert, key }: NonNullable<CassandraOptions['tls']>): string[] {
  return [
    'client_encryption_options:',
    '  enabled: true',
    '  optional: true',
    '  require_client_auth: false',
    '  ssl_context_factory:',
    '    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory',
    '    parameters:',
    `      private_key: ${JSON.stringify(key + cert)}`,
    `      trusted_certificates: ${JSON.stringify(ca)}`,
  ];
}
