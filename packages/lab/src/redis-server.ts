import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './loopback.ts';
import { findProgram } from './find-program.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** Where TLS is spoken, if `tls` was given. */
  readonly tlsPort: number;
  /** Of the user `default`. */
  readonly password: string;
  /** Ends the server; what was not saved is gone. */
  halt(): Promise<void>;
  /** Halts it if it runs, and starts it again on the same ports. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Where users are kept: nowhere, in an ACL file, or in the configuration file. */
  readonly users?: 'memory' | 'aclfile' | 'configuration';
  /** PEM. With `demandCertificate` clients need one of the same authority. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string; readonly demandCertificate?: boolean };
  readonly program?: string;
  /** Words before the settings: `program` starts another one, which they name. */
  readonly words?: readonly string[];
}

/** Why no Redis can be started here; undefined when it can. */
export const redisMissing = findProgram('redis-server') === undefined ? 'redis-server is not installed' : undefined;

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const program = options.program ?? findProgram('redis-server');
  if (program === undefined) throw new Error(redisMissing);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-redis-'));
  const password = 'root-pw-9Kx';
  const [port, tlsPort] = (await freePorts(2)) as [number, number];
  const users = options.users ?? 'memory';
  const settings = [`port ${port}`, 'bind 127.0.0.1', 'save ""', `dir ${folder}`];
  if (users === 'aclfile') {
    settings.push(`aclfile ${folder}/users.acl`);
    await writeFile(join(folder, 'users.acl'), `user default on >${password} ~* &* +@all\n`);
  } else settings.push(`requirepass ${password}`);
  if (options.tls) {
    for (const [name, text] of Object.entries({ ca: options.tls.ca, cert: options.tls.cert, key: options.tls.key }))
      await writeFile(join(folder, name), text);
    settings.push(`tls-port ${tlsPort}`, `tls-cert-file ${folder}/cert`, `tls-key-file ${folder}/key`, `tls-ca-cert-file ${folder}/ca`);
    settings.push(`tls-auth-clients ${options.tls.demandCertificate ? 'yes' : 'no'}`);
  }
  const file = join(folder, 'redis.conf');
  await writeFile(file, `${settings.join('\n')}\n`);
  await chmod(folder, 0o700);
  // Without a file of its own the server has nowhere to rewrite its configuration to.
  const args = users === 'memory' ? settings.flatMap((line) => [`--${line.split(' ')[0]}`, line.slice(line.indexOf(' ') + 1)]) : [file];
  const start = (): Promise<ServerProcess> =>
    startProcess(program, {
      args: [...(options.words ?? []), ...args].map((word) => (word === '""' ? '' : word)),
      cwd: folder,
      ready: 'eady to accept connections',
    });
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
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    password,
    halt,
    async restart() {
      await halt();
      running = await start();
    },
    stop,
  };
}
