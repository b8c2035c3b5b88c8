import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedPostgres, findPostgres, startDirectory, startPostgres, type Directory, type PostgresServer } from '@strongroom/lab';
import pg from 'pg';
import { CommandLine } from './command-line.ts';
import type { Narrator } from './console.ts';
import { freePort, startServer, type ServerProcess } from './server-process.ts';

/** What is running when the walk is done. */
export interface Walked {
  readonly server: ServerProcess;
  readonly rootToken: string;
  readonly home: string;
  readonly directory: Directory;
  readonly postgres: PostgresServer;
  /** Ends everything and removes the folder. */
  stop(): Promise<void>;
}

interface Credentials {
  lease_id: string;
  lease_duration: number;
  data: { username: string; password: string };
}

/**
 * The walk a user takes, on a real directory and a real PostgreSQL: mount, write a policy, log in, read and be refused, get a
 * database user, renew and revoke it, kill the server, and find every lease where it was.
 */
export async function walk(say: Narrator): Promise<Walked> {
  const home = await mkdtemp(join(tmpdir(), 'strongroom-quickstart-'));
  const running: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const one of running.reverse()) await one.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    say.step('Start a directory and a PostgreSQL for the server to work with');
    const directory = await startDirectory([
      { uid: 'ada', password: 'ada-password', groups: ['engineers'] },
      { uid: 'bob', password: 'bob-password', groups: ['sales'] },
    ]);
    running.push(directory);
    const binaries = embeddedPostgres() ?? (await findPostgres());
    const postgres = await startPostgres({ ...(binaries === undefined ? {} : { binaries }), settings: ['log_statement=none'] });
    running.push(postgres);
    say.note(`LDAP at ${directory.url}, ${postgres.version} at 127.0.0.1:${postgres.port}`);

    say.step('Start the server on an LMDB store, initialize and unseal it');
    const address = `http://127.0.0.1:${await freePort()}`;
    const config = join(home, 'server.hcl');
    await writeFile(
      config,
      `storage "lmdb" { path = "${join(home, 'data')}" }\n` +
        `listener "tcp" {\n  address = "${address.slice('http://'.length)}"\n  tls_disable = true\n}\n` +
        `api_addr = "${address}"\nlog_level = "info"\n`,
    );
    const start = async (): Promise<ServerProcess> => {
      say.command(`strongroom server -config=${config} &`);
      return startServer([`-config=${config}`], address);
    };
    let server = await start();
    running.push({ stop: async () => server.stop() });
    const cli = new CommandLine(say, { STRONGROOM_ADDR: address, HOME: home });
    say.command(`export STRONGROOM_ADDR=${address}`);
    const made = await cli.json<{ unseal_keys_b64?: string[]; keys_base64?: string[]; root_token: string }>(
      ['operator', 'init', '-key-shares=3', '-key-threshold=2'],
      ['operator', 'init', '-key-shares=3', '-key-threshold=2'],
    );
    const keys = made.unseal_keys_b64 ?? made.keys_base64 ?? [];
    for (const secret of [...keys, made.root_token, directory.adminPassword, postgres.password, 'ada-password', 'bob-password'])
      cli.conceal(secret);
    say.note('Three shares of the unseal key and a root token; two shares open the server.');
    for (const key of keys.slice(0, 2)) await cli.run(['operator', 'unseal', key], { quiet: true });
    cli.set('STRONGROOM_TOKEN', made.root_token);

    say.step('Mount ldap login at auth/corp, the database engine at db/prod, and key-value at secret');
    await cli.run(['auth', 'enable', '-path=corp', '-listing-visibility=unauth', 'ldap']);
    await cli.run(['secrets', 'enable', '-path=db/prod', 'database']);
    await cli.run(['secrets', 'enable', '-path=secret', '-version=2', 'kv']);

    say.step('Write a policy and map the directory group engineers to it');
    const policy = join(home, 'engineer.hcl');
    await writeFile(
      policy,
      'path "secret/data/app/*" {\n  capabilities = ["read"]\n}\npath "db/prod/creds/readonly" {\n  capabilities = ["read"]\n}\n',
    );
    await cli.run(['policy', 'write', 'engineer', policy]);
    await cli.run([
      'write',
      'auth/corp/config',
      `url=${directory.url}`,
      `binddn=${directory.adminDn}`,
      `bindpass=${directory.adminPassword}`,
      `userdn=${directory.peopleDn}`,
      'userattr=uid',
      `groupdn=${directory.groupsDn}`,
      'groupfilter=(member={{.UserDN}})',
    ]);
    await cli.run(['write', 'auth/corp/groups/engineers', 'policies=engineer']);

    say.step('Configure the database, and put two secrets into key-value');
    await cli.run([
      'write',
      'db/prod/config/app',
      'plugin_name=postgresql-database-plugin',
      'allowed_roles=readonly',
      `connection_url=postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
      `username=${postgres.superuser}`,
      `password=${postgres.password}`,
    ]);
    await cli.run([
      'write',
      'db/prod/roles/readonly',
      'db_name=app',
      `creation_statements=CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'; GRANT pg_read_all_data TO "{{name}}";`,
      'default_ttl=1h',
      'max_ttl=24h',
    ]);
    await cli.run(['kv', 'put', '-mount=secret', 'app/config', 'greeting=hello'], { quiet: true });
    await cli.run(['kv', 'put', '-mount=secret', 'payroll/salaries', 'ceo=1'], { quiet: true });

    say.step('Log Ada in from the directory');
    const login = await cli.json<{ auth: { client_token: string; policies: string[] } }>(
      ['login', '-method=ldap', '-path=corp', '-no-store', 'username=ada', 'password=ada-password'],
      ['login', '-method=ldap', '-path=corp', 'username=ada'],
    );
    cli.conceal(login.auth.client_token);
    say.note(`Her token has the policies ${login.auth.policies.join(', ')}.`);
    if (!login.auth.policies.includes('engineer')) throw new Error('the directory group was not mapped to its policy');
    cli.set('STRONGROOM_TOKEN', login.auth.client_token);

    say.step('Read a secret that the policy allows, and be refused one that it does not');
    const greeting = await cli.run(['kv', 'get', '-mount=secret', '-field=greeting', 'app/config']);
    if (greeting.trim() !== 'hello') throw new Error(`expected hello, got ${greeting}`);
    await cli.refused(['kv', 'get', '-mount=secret', 'payroll/salaries']);

    say.step('Get a PostgreSQL user and connect with it');
    const credentials = await cli.json<Credentials>(['read', 'db/prod/creds/readonly']);
    cli.conceal(credentials.data.password);
    say.note(`User ${credentials.data.username}, lease ${credentials.lease_id}, good for ${credentials.lease_duration} s.`);
    say.note(`PostgreSQL answers: I am ${await whoAmI(postgres, credentials)}.`);

    say.step('Renew its lease, revoke it, and be refused by PostgreSQL');
    await cli.run(['lease', 'renew', '-increment=2h', credentials.lease_id]);
    cli.set('STRONGROOM_TOKEN', made.root_token);
    await cli.run(['lease', 'revoke', '-sync', credentials.lease_id]);
    await refusedByPostgres(postgres, credentials);
    say.note('PostgreSQL refuses the user: it is gone.');

    say.step('Kill the server with SIGKILL in the middle of its life, start it again and unseal it');
    const kept: Credentials[] = [];
    for (let i = 0; i < 3; i += 1) kept.push(await cli.json<Credentials>(['read', 'db/prod/creds/readonly']));
    const brief = await shortLived(cli, kept);
    for (const one of [...kept, brief]) cli.conceal(one.data.password);
    say.command(`kill -9 ${server.pid}`);
    await server.kill();
    server = await start();
    for (const key of keys.slice(0, 2)) await cli.run(['operator', 'unseal', key], { quiet: true });

    say.step('Find every lease still there, and expiring on time');
    for (const one of kept) {
      await cli.run(['lease', 'lookup', one.lease_id], { quiet: true });
      await whoAmI(postgres, one);
    }
    say.note(`All ${kept.length} leases are there, and their users can log in.`);
    const ended = await untilRefused(postgres, brief, 20_000);
    say.note(`The lease of ${brief.lease_duration} s ended ${ended}, and PostgreSQL refuses its user.`);
    await cli.refused(['lease', 'lookup', brief.lease_id]);

    return { server: { ...server, stop: async () => server.stop() }, rootToken: made.root_token, home, directory, postgres, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A credential whose lease ends soon after the restart. */
async function shortLived(cli: CommandLine, others: readonly Credentials[]): Promise<Credentials> {
  void others;
  await cli.run(['write', 'db/prod/roles/readonly', 'default_ttl=6s'], { quiet: true });
  return cli.json<Credentials>(['read', 'db/prod/creds/readonly']);
}

async function whoAmI(postgres: PostgresServer, { data }: Credentials): Promise<string> {
  const client = new pg.Client({
    host: postgres.host,
    port: postgres.port,
    user: data.username,
    password: data.password,
    database: 'postgres',
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ me: string }>('SELECT current_user AS me');
    return rows[0]?.me ?? '';
  } finally {
    await client.end();
  }
}

async function refusedByPostgres(postgres: PostgresServer, credentials: Credentials): Promise<void> {
  try {
    await whoAmI(postgres, credentials);
  } catch {
    return;
  }
  throw new Error(`PostgreSQL still accepts ${credentials.data.username}`);
}

/** Waits for the real clock here: the walk shows a real server. */
async function untilRefused(postgres: PostgresServer, credentials: Credentials, millis: number): Promise<string> {
  const began = Date.now();
  for (;;) {
    const there = await postgres.query<{ count: string }>('SELECT count(*) FROM pg_roles WHERE rolname = $1', [credentials.data.username]);
    if (there[0]?.count === '0') return `within ${Math.ceil((Date.now() - began) / 1_000)} s`;
    if (Date.now() - began > millis) throw new Error(`${credentials.data.username} is still there ${millis / 1_000} s after the restart`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
