import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  describeWhere,
  findMysql,
  findOpensearch,
  findProgram,
  findValkey,
  kubeApiserverMissing,
  rabbitmqMissing,
  startKubeApiserver,
  startMysql,
  startOpensearch,
  startRabbitmq,
  startRedis,
  type KubeApiserver,
} from '@strongroom/lab';
import { connect } from 'amqplib';
import { command, freePort, startServer, type ServerProcess } from '../src/server-process.ts';

/** A newcomer gets the first credential with at most so many commands. */
const MOST_COMMANDS = 5;

jest.setTimeout(180_000);

const [mysql, valkey, opensearch] = [await findMysql(), await findValkey(), await findOpensearch()];
const kubernetesMissing = kubeApiserverMissing() ?? (findProgram('kubectl') === undefined ? 'kubectl is not installed' : undefined);

/** What the page of an engine or a plugin has an administrator run before, and the walk to the first credential. */
class Page {
  readonly #text: string;

  constructor(path: string) {
    this.#text = readFileSync(fileURLToPath(new URL(`../../../docs/${path}`, import.meta.url)), 'utf8');
  }

  /** The blocks in this language that an administrator of the server runs. */
  preparation(language: string): string {
    const block = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(this.#section('Before you begin'))?.[1];
    if (block === undefined) throw new Error(`nothing in ${JSON.stringify(language)} is to be run before`);
    return block;
  }

  /** The commands of the walk, each with its continuation lines and without what it prints. */
  commands(): string[] {
    const block = /^```\n(\$ [^]*?)^```$/m.exec(this.#section('The first credential'))?.[1] ?? '';
    const commands: string[] = [];
    for (const line of block.split('\n')) {
      if (line.startsWith('$ ')) commands.push(line.slice(2));
      else if (line.startsWith('    ')) commands.push(`${commands.pop()}\n${line}`);
    }
    return commands;
  }

  #section(heading: string): string {
    const [, after = ''] = this.#text.split(`\n## ${heading}\n`);
    return after.split('\n## ')[0]!;
  }
}

const PAGES = {
  mysql: new Page('databases/mysql.md'),
  valkey: new Page('databases/redis.md'),
  rabbitmq: new Page('engines/rabbitmq.md'),
  opensearch: new Page('databases/opensearch.md'),
  kubernetes: new Page('engines/kubernetes-secrets.md'),
};

describe('the walk of a newcomer', () => {
  test.each(Object.entries(PAGES))('for %s takes at most five commands, all of them of strongroom', (_name, page) => {
    const commands = page.commands();
    expect(commands.length).toBeGreaterThan(2);
    expect(commands.length).toBeLessThanOrEqual(MOST_COMMANDS);
    for (const one of commands) expect(one).toMatch(/^strongroom /);
    expect(commands.at(-1)).toContain('/creds/');
  });
});

describe('the walk of a newcomer, with a server in development mode', () => {
  let folder = '';
  let strongroom: ServerProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'strongroom-walks-'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'strongroom'), `#!/bin/bash\nexec ${process.execPath} ${command} "$@"\n`);
    chmodSync(join(folder, 'bin', 'strongroom'), 0o755);
    const address = `127.0.0.1:${await freePort()}`;
    const words = ['-dev', '-dev-root-token-id=root', `-dev-listen-address=${address}`];
    strongroom = await startServer(words, `http://${address}`, { env: { ...process.env, NODE_OPTIONS: '' } });
  });
  afterAll(async () => {
    await strongroom?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What a command of a shell prints. @throws Error with what it said */
  const run = async (script: string, env: NodeJS.ProcessEnv = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const more = { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: folder, NODE_OPTIONS: '' };
      const own = { ...more, STRONGROOM_ADDR: strongroom.address, STRONGROOM_TOKEN: 'root', ...env };
      execFile('bash', ['--norc', '-euo', 'pipefail', '-c', script], { env: own, cwd: folder }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${script}\n${stdout}${stderr}`));
        else resolve(stdout);
      });
    });
  /** Runs the walk with the addresses of this machine in place of those of the page, and returns the fields of the credential. */
  const walk = async (page: Page, addresses: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
    let printed = '';
    for (const one of page.commands()) printed = await run(replaced(one, addresses));
    return Object.fromEntries([...printed.matchAll(/^(\w+) +(\S.*)$/gm)].map(([, key, value]) => [key!, value!]));
  };
  /** Removes the mount, with what it has made. */
  const unmount = async (mount: string): Promise<string> => run(`strongroom secrets disable ${mount}`);

  describeWhere('missing' in mysql ? mysql.missing : undefined, 'MySQL', () => {
    test('ends with a user that logs in and reads', async () => {
      const server = await startMysql();
      try {
        await server.query('CREATE DATABASE app');
        for (const statement of PAGES.mysql.preparation('sql').split(/;\n/).filter(Boolean)) await server.query(statement);
        const { username, password } = await walk(PAGES.mysql, { '127.0.0.1:3306': `127.0.0.1:${server.port}` });
        expect(await server.login(username!, password!)).toBe(`${username}@%`);
        const grants = (await server.query(`SHOW GRANTS FOR '${username}'@'%'`)).flatMap((row) => Object.values(row));
        expect(grants).toContainEqual(expect.stringMatching(/^GRANT SELECT ON `app`/));
        await unmount('database');
        await expect(server.login(username!, password!)).rejects.toThrow('Access denied');
      } finally {
        await server.stop();
      }
    });
  });

  describeWhere('missing' in valkey ? valkey.missing : undefined, 'Valkey', () => {
    test('ends with a user that reads its keys', async () => {
      const program = join('folder' in valkey ? valkey.folder : '', 'run');
      const server = await startRedis({ program, words: ['/usr/bin/valkey-server'], users: 'aclfile' });
      const cli = `${program} /usr/bin/valkey-cli -e -p ${server.port} --no-auth-warning`;
      try {
        const before = `${PAGES.valkey.preparation('')}SET app:greeting hello\n`;
        expect(await run(`${cli} -a ${server.password} <<'END'\n${before}END`)).toBe('OK\nOK\n');
        const { username, password } = await walk(PAGES.valkey, { 'port=6379': `port=${server.port}` });
        const get = `${cli} --user ${username} --pass ${password} GET app:greeting`;
        expect(await run(get)).toBe('hello\n');
        await unmount('database');
        await expect(run(get)).rejects.toThrow('WRONGPASS');
      } finally {
        await server.stop();
      }
    });
  });

  describeWhere(rabbitmqMissing, 'RabbitMQ', () => {
    test('ends with a user that sends to its queue', async () => {
      const server = await startRabbitmq();
      try {
        await server.api('PUT', 'queues/%2F/orders', {});
        const addresses = { 'guest:guest': `${server.username}:${server.password}`, 'http://127.0.0.1:15672': server.url };
        await run(replaced(PAGES.rabbitmq.preparation('sh'), addresses));
        const { username, password } = await walk(PAGES.rabbitmq, addresses);
        const login = { hostname: '127.0.0.1', port: server.amqpPort, username: username!, password: password! };
        const connection = await connect(login);
        const channel = await connection.createChannel();
        expect(await channel.checkQueue('orders')).toMatchObject({ messageCount: 0 });
        await connection.close();
        await unmount('rabbitmq');
        await expect(connect(login)).rejects.toThrow('ACCESS_REFUSED');
      } finally {
        await server.stop();
      }
    });
  });

  describeWhere('missing' in opensearch ? opensearch.missing : undefined, 'OpenSearch', () => {
    test('ends with a user that searches', async () => {
      const server = await startOpensearch();
      const url = `http://127.0.0.1:${server.port}`;
      try {
        const addresses = { 'admin:admin-password': `${server.superuser}:${server.password}`, 'http://127.0.0.1:9200': url };
        await run(replaced(PAGES.opensearch.preparation('sh'), addresses));
        const { username, password } = await walk(PAGES.opensearch, addresses);
        const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
        const search = async (): Promise<number> => (await fetch(`${url}/_search`, { headers })).status;
        expect(await search()).toBe(200);
        await unmount('database');
        expect(await search()).toBe(401);
      } finally {
        await server.stop();
      }
    });
  });

  describeWhere(kubernetesMissing, 'Kubernetes', () => {
    test('ends with a token that lists pods', async () => {
      const cluster = await startKubeApiserver();
      try {
        writeFileSync(join(folder, 'kubeconfig'), kubeconfig(cluster));
        writeFileSync(join(folder, 'strongroom.yaml'), PAGES.kubernetes.preparation('yaml'));
        await run(PAGES.kubernetes.preparation('sh'), { KUBECONFIG: join(folder, 'kubeconfig') });
        const made = await walk(PAGES.kubernetes, { 'https://127.0.0.1:6443': cluster.itself.url });
        const list = async (resource: string): Promise<number> => {
          const path = `/api/v1/namespaces/shop/${resource}`;
          return (await cluster.ask({ method: 'GET', path, bearer: made['service_account_token']! })).code;
        };
        expect([await list('pods'), await list('secrets')]).toEqual([200, 403]);
        await unmount('kubernetes');
        expect([401, 403]).toContain(await list('pods'));
      } finally {
        await cluster.stop();
      }
    });
  });
});

function replaced(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((so, [from, to]) => so.replaceAll(from, to), text);
}

/** For an administrator of the cluster. */
function kubeconfig({ itself: { url, ca }, manager }: KubeApiserver): string {
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster }],
    users: [{ name: 'manager', user: { token: manager } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'manager' } }],
    'current-context': 'lab',
  });
}
