import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWhere } from './describe-where.ts';
import { findProgram } from './find-program.ts';
import { freePorts } from './loopback.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export interface RabbitmqServer {
  /** Of the management API. */
  readonly url: string;
  readonly port: number;
  /** For clients of AMQP. */
  readonly amqpPort: number;
  /** The first user, who may do everything. */
  readonly username: string;
  readonly password: string;
  /** Calls the management API below `/api/`, as the first user or another. */
  api(
    method: string,
    path: string,
    body?: object,
    login?: readonly [username: string, password: string],
  ): Promise<{ status: number; body: unknown }>;
  /** The names of all users but the first. */
  users(): Promise<string[]>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

/** Where Debian puts it: the script on the path is for the service's own user. */
const LIBRARY = '/usr/lib/rabbitmq/lib';

function serverScript(): string | undefined {
  if (!existsSync(LIBRARY)) return undefined;
  const [version] = readdirSync(LIBRARY).sort().reverse();
  const script = version === undefined ? undefined : join(LIBRARY, version, 'sbin', 'rabbitmq-server');
  return script !== undefined && existsSync(script) ? script : undefined;
}

const script = serverScript();

/** Why no RabbitMQ can be started here; undefined when it can. */
export const rabbitmqMissing =
  script === undefined || findProgram('epmd') === undefined ? 'RabbitMQ is not installed here (Debian: rabbitmq-server)' : undefined;

/** `describe`, skipped with the reason where RabbitMQ is missing. */
export const describeWithRabbitmq = (title: string, body: () => void): void => describeWhere(rabbitmqMissing, title, body);

/** A private RabbitMQ with its management API, on free loopback ports. */
export async function startRabbitmq(): Promise<RabbitmqServer> {
  if (script === undefined || rabbitmqMissing !== undefined) throw new Error(rabbitmqMissing);
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-rabbitmq-'));
  const [amqpPort, port, distributionPort, epmdPort] = (await freePorts(4)) as [number, number, number, number];
  const username = 'root';
  const password = 'root-pw-8Rb';
  await Promise.all([mkdir(join(folder, 'mnesia')), mkdir(join(folder, 'log'))]);
  await writeFile(
    join(folder, 'rabbitmq.conf'),
    `listeners.tcp.default = 127.0.0.1:${amqpPort}
management.tcp.ip = 127.0.0.1
management.tcp.port = ${port}
default_user = ${username}
default_pass = ${password}
default_user_tags.administrator = true
log.console = true
log.console.level = info
`,
  );
  await writeFile(join(folder, 'plugins'), '[rabbitmq_management].\n');
  const names = { ERL_EPMD_PORT: String(epmdPort), ERL_EPMD_ADDRESS: '127.0.0.1' };
  const running: ServerProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const one of running.splice(0).reverse()) await one.end('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    // Started by the server itself, it would outlive it.
    running.push(
      await startProcess(findProgram('epmd')!, {
        args: ['-d', '-port', String(epmdPort), '-address', '127.0.0.1'],
        cwd: folder,
        ready: 'epmd running',
      }),
    );
    running.push(
      await startProcess(script, {
        args: [],
        cwd: folder,
        ready: 'Server startup complete',
        timeoutMs: 60_000,
        env: {
          ...names,
          // The script becomes the server then, in place of its parent.
          RUNNING_UNDER_SYSTEMD: 'true',
          HOME: folder,
          RABBITMQ_NODENAME: `strongroom${amqpPort}@localhost`,
          RABBITMQ_DIST_PORT: String(distributionPort),
          RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
          RABBITMQ_LOG_BASE: join(folder, 'log'),
          RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
          RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none',
        },
      }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://127.0.0.1:${port}`;
  const api: RabbitmqServer['api'] = async (method, path, body, [name, secret] = [username, password]) => {
    const response = await fetch(`${url}/api/${path}`, {
      method,
      headers: { Authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  const users = async (): Promise<string[]> => {
    const { body } = await api('GET', 'users?columns=name');
    return (body as { name: string }[]).map(({ name }) => name).filter((name) => name !== username);
  };
  return { url, port, amqpPort, username, password, api, users, stop };
}
