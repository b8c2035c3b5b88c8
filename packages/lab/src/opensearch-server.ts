import { chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnJava, type JavaInstallation } from './java-installation.ts';
import { freePorts } from './loopback.ts';
import { accountInPlaceOfRoot } from './server-account.ts';
import { startProcess } from './server-process.ts';
import { createTestCa } from './test-ca.ts';

/** An OpenSearch with its security plugin, which speaks HTTP without TLS. */
export interface OpensearchServer {
  readonly host: string;
  readonly port: number;
  /** An administrator, who is not reserved. */
  readonly superuser: string;
  readonly password: string;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 150_000;
/** The reserved user of the plugin's own examples. */
const FIRST_LOGIN = `Basic ${Buffer.from('admin:admin').toString('base64')}`;

/** The folder with OpenSearch's jars and plugin, fetched from Maven Central where that is possible; or why there is no server. */
export async function findOpensearch(): Promise<JavaInstallation> {
  return findOnJava('opensearch', 'OpenSearch');
}

/** Takes about 25 seconds and 450 MB, so one should do for all tests of a file. Where the tests run as root, it runs as `nobody`. */
export async function startOpensearch(): Promise<OpensearchServer> {
  const found = await findOpensearch();
  if ('missing' in found) throw new Error(found.missing);
  const account = accountInPlaceOfRoot('nobody');
  const home = await mkdtemp(join(tmpdir(), 'strongroom-opensearch-'));
  const [port, transportPort] = (await freePorts(2)) as [number, number];
  await furnish(home, found.folder, configuration(port, transportPort));
  if (account.uid !== undefined) await handOver(home, account.uid, account.gid!);
  const args = [
    '-Xms512m',
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Djava.security.manager=allow',
    `-Dopensearch.path.home=${home}`,
    `-Dopensearch.path.conf=${join(home, 'config')}`,
    '-Dopensearch.distribution.type=tar',
    '-Dopensearch.bundled_jdk=false',
    '-Dio.netty.noUnsafe=true',
    '-cp',
    join(found.folder, 'lib', '*'),
    'org.opensearch.bootstrap.OpenSearch',
  ];
  const running = await startProcess(found.java, {
    args,
    cwd: home,
    account,
    // The security plugin has read its users.
    ready: /Node '[^']*' initialized/,
    timeoutMs: START_TIMEOUT_MS,
  }).catch(async (error: unknown) => {
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const superuser = 'manager';
  const password = 'root-pw-4Vn-long';
  const response = await fetch(`http://127.0.0.1:${port}/_plugins/_security/api/internalusers/${superuser}`, {
    method: 'PUT',
    headers: { authorization: FIRST_LOGIN, 'content-type': 'application/json' },
    body: JSON.stringify({ password, backend_roles: ['admin'] }),
  });
  if (!response.ok) throw new Error(`OpenSearch does not take its administrator: ${await response.text()}`);
  return {
    host: '127.0.0.1',
    port,
    superuser,
    password,
    async stop() {
      await running.end('SIGKILL');
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function furnish(home: string, installation: string, yaml: string): Promise<void> {
  const config = join(home, 'config');
  const plugin = join(installation, 'opensearch-security');
  await Promise.all(['modules', 'plugins', 'config', 'data', 'logs'].map((name) => mkdir(join(home, name))));
  // Not a link: the server may read only what is really there.
  await cp(plugin, join(home, 'plugins', 'opensearch-security'), { recursive: true });
  await cp(join(plugin, 'config'), join(config, 'opensearch-security'), { recursive: true });
  const ca = createTestCa();
  // The registered id says that the certificate is of a node.
  const { cert, key } = ca.issue('node-0', ['IP:127.0.0.1', 'DNS:localhost', 'RID:1.2.3.4.5.5']);
  const files = {
    'opensearch.yml': yaml,
    'log4j2.properties': LOGGING,
    'root-ca.pem': ca.certificate,
    'node.pem': cert,
    'node-key.pem': key,
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(config, name), text)));
}

async function handOver(folder: string, uid: number, gid: number): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chown(join(entry.parentPath, entry.name), uid, gid);
  }
  await chown(folder, uid, gid);
}

const LOGGING = `appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%p] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
`;

function configuration(port: number, transportPort: number): string {
  const settings = {
    'cluster.name': 'tests',
    'network.host': '127.0.0.1',
    'http.port': port,
    'transport.port': transportPort,
    'discovery.type': 'single-node',
    'cluster.routing.allocation.disk.threshold_enabled': false,
    'plugins.security.ssl.transport.pemcert_filepath': 'node.pem',
    'plugins.security.ssl.transport.pemkey_filepath': 'node-key.pem',
    'plugins.security.ssl.transport.pemtrustedcas_filepath': 'root-ca.pem',
    'plugins.security.ssl.transport.enforce_hostname_verification': false,
    'plugins.security.ssl.http.enabled': false,
    'plugins.security.allow_unsafe_democertificates': true,
    'plugins.security.allow_default_init_securityindex': true,
    // The least that there is: the tests change many passwords.
    'plugins.security.password.hashing.bcrypt.rounds': 4,
    'plugins.security.restapi.roles_enabled': '["all_access", "security_rest_api_access"]',
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n`;
}
