import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { freePorts } from './loopback.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export interface InfluxdbServer {
  readonly host: string;
  readonly port: number;
  /** The first user, who may do everything. */
  readonly superuser: string;
  readonly password: string;
  /** One statement as anybody; rejects with the server's words. Not for servers that speak TLS. */
  query(username: string, password: string, statement: string): Promise<unknown[][]>;
  /** Ends the server without removing its data. */
  halt(): Promise<void>;
  /** Halts it if it runs, and starts it again on the same port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

interface Answer {
  readonly error?: string;
  readonly results?: readonly { readonly error?: string; readonly series?: readonly { readonly values?: unknown[][] }[] }[];
}

/** Why no InfluxDB 1 can be started here; undefined when it can. */
export const influxdbMissing = findProgram('influxd') === undefined ? 'influxd is not installed' : undefined;

/** An InfluxDB 1 that demands logins. */
export async function startInfluxdb(): Promise<InfluxdbServer> {
  const program = findProgram('influxd');
  if (program === undefined) throw new Error(influxdbMissing);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-influxdb-'));
  const superuser = 'root';
  const password = 'root-pw-4Vn';
  const [port, backupPort] = (await freePorts(2)) as [number, number];
  await writeFile(
    join(folder, 'influxdb.conf'),
    `reporting-disabled = true
bind-address = "127.0.0.1:${backupPort}"
[meta]
dir = "${folder}/meta"
[data]
dir = "${folder}/data"
wal-dir = "${folder}/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:${port}"
auth-enabled = true
`,
  );
  const start = (): Promise<ServerProcess> =>
    startProcess(program, { args: ['-config', join(folder, 'influxdb.conf')], cwd: folder, ready: 'Listening for signals' });
  const query = async (username: string, secret: string, statement: string): Promise<unknown[][]> => {
    const response = await fetch(`http://127.0.0.1:${port}/query`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ q: statement }),
    });
    const { error, results } = (await response.json()) as Answer;
    const refusal = error ?? results?.find((result) => result.error !== undefined)?.error;
    if (refusal !== undefined) throw new Error(refusal);
    return results?.[0]?.series?.[0]?.values ?? [];
  };
  let running: ServerProcess | undefined;
  const halt = async (): Promise<void> => {
    await running?.end();
    running = undefined;
  };
  const stop = async (): Promise<void> => {
    await halt();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    running = await start();
    // As long as there is no user, anybody may make the first.
    await query('', '', `CREATE USER ${superuser} WITH PASSWORD '${password}' WITH ALL PRIVILEGES`);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    superuser,
    password,
    query,
    halt,
    async restart() {
      await halt();
      running = await start();
    },
    stop,
  };
}
