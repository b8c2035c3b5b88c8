import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import neo4j from 'neo4j-driver';
import { findOnJava, type JavaInstallation } from './java-installation.ts';
import { freePorts } from './loopback.ts';
import { startProcess } from './server-process.ts';

/** A Neo4j server of the Community Edition that demands logins. */
export interface Neo4jServer {
  readonly host: string;
  /** Of Bolt. */
  readonly port: number;
  /** The first user, whose password has been changed, as the server demands. */
  readonly superuser: string;
  readonly password: string;
  /** One statement on users as anybody; rejects with the driver's error. */
  query(username: string, password: string, statement: string): Promise<Record<string, unknown>[]>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

const FIRST_LOGIN = 'neo4j';
const START_TIMEOUT_MS = 120_000;

/** The folder with Neo4j's jars, fetched from Maven Central where that is possible; or why there is no server. */
export async function findNeo4j(): Promise<JavaInstallation> {
  return findOnJava('neo4j', 'Neo4j');
}

/** Takes about ten seconds and 500 MB, so one should do for all tests of a file. */
export async function startNeo4j(): Promise<Neo4jServer> {
  const found = await findNeo4j();
  if ('missing' in found) throw new Error(found.missing);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-neo4j-'));
  const [port] = (await freePorts(1)) as [number];
  await mkdir(join(folder, 'conf'));
  await writeFile(join(folder, 'conf', 'neo4j.conf'), configuration(folder, port));
  const args = [
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    join(found.folder, 'lib', '*'),
    'org.neo4j.server.CommunityEntryPoint',
    `--home-dir=${folder}`,
    `--config-dir=${folder}/conf`,
    '--console-mode',
  ];
  const running = await startProcess(found.java, { args, cwd: folder, ready: /Started\./, timeoutMs: START_TIMEOUT_MS }).catch(
    async (error: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw error;
    },
  );
  const query = async (username: string, secret: string, statement: string): Promise<Record<string, unknown>[]> => {
    const driver = neo4j.driver(`bolt://127.0.0.1:${port}`, neo4j.auth.basic(username, secret), { telemetryDisabled: true });
    const session = driver.session({ database: 'system' });
    try {
      return (await session.run(statement)).records.map((record) => record.toObject());
    } finally {
      await session.close();
      await driver.close();
    }
  };
  const password = 'root-pw-4Vn-long';
  await query(FIRST_LOGIN, FIRST_LOGIN, `ALTER CURRENT USER SET PASSWORD FROM '${FIRST_LOGIN}' TO '${password}'`);
  return {
    host: '127.0.0.1',
    port,
    superuser: FIRST_LOGIN,
    password,
    query,
    async stop() {
      // Asked politely it takes ten seconds.
      await running.end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, port: number): string {
  const settings = {
    'server.bolt.listen_address': `127.0.0.1:${port}`,
    'server.bolt.advertised_address': `127.0.0.1:${port}`,
    'server.http.enabled': false,
    'server.https.enabled': false,
    'server.directories.data': join(folder, 'data'),
    'server.directories.logs': join(folder, 'logs'),
    'server.memory.heap.max_size': '512m',
    'server.memory.pagecache.size': '16m',
    'dbms.usage_report.enabled': false,
    // The tests try wrong passwords on purpose.
    'dbms.security.auth_max_failed_attempts': 0,
  };
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}
