import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startServer } from '../server-process.ts';
import { DATABASE_MANAGER, LOGIN_MANAGER, SECRETS_MANAGER, type Outside } from './outside.ts';
import { LogFaults } from './verdict.ts';

/** A server of its own process on LMDB, with one of every engine mounted and configured against systems that are up. */
export interface FuzzedServer {
  readonly address: string;
  readonly pid: number;
  /** May do everything but what would end the run. */
  readonly token: string;
  /** Has the default policy alone. */
  readonly guestToken: string;
  /** What it was configured with, and calls that use what was configured. */
  readonly examples: readonly Example[];
  /** Writes its configuration again, as far as that goes: the fuzz changes and deletes what it finds. */
  restore(): Promise<void>;
  /** The exit code once the process has ended by itself. */
  ended(): number | NodeJS.Signals | undefined;
  log(): string;
  /** Lines of its log that report a fault of its own. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

export interface Example {
  readonly path: string;
  /** Without one, only the names in the path are an example. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** What can be asked of the roles that are configured. */
const USES: readonly Example[] = [
  ...[
    'creds/viewer',
    'static-creds/report',
    'rotate-role/report',
    'roles/viewer/preview',
    'orphans/app',
    'reset/app',
    'rotate-root/app',
  ].map((path) => `db/${path}`),
  ...['creds/app', 'static-cred/svc1', 'rotate-role/svc1', 'role/app/preview'].map((path) => `ldap/${path}`),
  ...['check-out', 'check-in', 'status'].map((path) => `ldap/library/batch/${path}`),
  ...['aws/creds/app', 'aws/sts/viewer', 'db/config/app/status', 'ldap/library/manage/batch/check-in'],
  ...['sys/sync/destinations/aws-sm/prod/plan', 'sys/sync/destinations/aws-sm/prod/reconcile', 'sys/policies/password/app/generate'],
].map((path) => ({ path }));

/** What exists on the server. The document that is fuzzed knows these names, so that calls reach what is there. */
export const KNOWN_NAMES: readonly string[] = ['app', 'viewer', 'report', 'svc1', 'user1', 'eng', 'batch', 'prod', 'kv', 'kv1', 'default'];

const POLICY = 'fuzz';
/** The way out for the run: what ends the server, the token or its policy is refused. */
const DENIED: readonly string[] = [
  'sys/seal',
  'sys/step-down',
  'auth/token/revoke-self',
  `sys/policy/${POLICY}`,
  `sys/policies/acl/${POLICY}`,
  // These would be gone after the first hit: their names are known.
  ...['sys/mounts', 'sys/removals'].flatMap((at) => ['kv', 'kv1', 'db', 'ldap', 'aws'].map((name) => `${at}/${name}`)),
  'sys/auth/ldap',
];

export async function startFuzzedServer(outside: Outside): Promise<FuzzedServer> {
  const home = await mkdtemp(join(tmpdir(), 'strongroom-fuzz-'));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const config = join(home, 'server.hcl');
  await writeFile(
    config,
    `storage "lmdb" { path = "${join(home, 'data')}" }\n` +
      `listener "tcp" {\n  address = "127.0.0.1:${port}"\n  tls_disable = true\n}\n` +
      `audit "file" "main" {\n  file_path = "${join(home, 'audit.log')}"\n}\n` +
      `api_addr = "${address}"\nlog_level = "info"\n`,
  );
  // What the fuzz names as a file lies in the folder that is removed afterwards.
  const faults = new LogFaults();
  const server = await startServer([`-config=${config}`], address, { cwd: home, heard: (text) => faults.heard(text) });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    const made = await call(address, '', 'PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 });
    await call(address, '', 'PUT', 'sys/unseal', { key: (made['keys_base64'] as string[])[0] });
    const root = made['root_token'] as string;
    const writes: Required<Example>[] = [];
    const write: Write = async (path, body) => {
      await call(address, root, 'POST', path, body);
      writes.push({ path, body });
    };
    await configure(write, outside);
    await call(address, root, 'POST', `sys/policies/acl/${POLICY}`, { policy: policyText() });
    const tokenOf = async (policy: string): Promise<string> => {
      const { auth } = await call(address, root, 'POST', 'auth/token/create', { policies: [policy], ttl: '24h', no_parent: true });
      return (auth as { client_token: string }).client_token;
    };
    return {
      address,
      pid: server.pid,
      examples: [...writes, ...USES],
      restore: async () => {
        for (const { path, body } of writes) if (!MOUNTING.test(path)) await call(address, root, 'POST', path, body).catch(() => undefined);
      },
      token: await tokenOf(POLICY),
      guestToken: await tokenOf('default'),
      ended: server.ended,
      log: server.log,
      faults: faults.lines,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function policyText(): string {
  const denied = DENIED.map((path) => `path "${path}" { capabilities = ["deny"] }\n`);
  return `path "*" { capabilities = ["create", "read", "update", "patch", "delete", "list", "sudo"] }\n${denied.join('')}`;
}

const MOUNTING = /^sys\/(mounts|auth)\//;

type Write = (path: string, body: Readonly<Record<string, unknown>>) => Promise<void>;

async function configure(write: Write, { postgres, slapd, moto }: Outside): Promise<void> {
  await write('sys/mounts/kv', { type: 'kv', options: { version: '2' } });
  await write('sys/mounts/kv1', { type: 'kv', options: { version: '1' } });
  await write('sys/mounts/db', { type: 'database' });
  await write('sys/mounts/ldap', { type: 'ldap' });
  await write('sys/mounts/aws', { type: 'aws' });
  await write('sys/auth/ldap', { type: 'ldap' });
  await write('kv/data/app', { data: { greeting: 'hello' } });
  await write('kv1/app', { greeting: 'hello' });
  await write('sys/policies/password/app', { policy: 'length = 20\nrule "charset" { charset = "abcdefghij" }' });

  await write('db/config/app', {
    plugin_name: 'postgresql-database-plugin',
    connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
    ...DATABASE_MANAGER,
    allowed_roles: '*',
  });
  await write('db/roles/viewer', {
    db_name: 'app',
    creation_statements: `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`,
    default_ttl: '1h',
  });
  await write('db/static-roles/report', { db_name: 'app', username: 'reports', rotation_period: '24h' });

  if (slapd) {
    const as = ({ dn, password }: typeof LOGIN_MANAGER) => ({ url: slapd.url, binddn: dn, bindpass: password });
    await write('auth/ldap/config', {
      ...as(LOGIN_MANAGER),
      userdn: 'ou=people,dc=example,dc=org',
      userattr: 'uid',
      groupdn: 'ou=groups,dc=example,dc=org',
      groupfilter: '(member={{.UserDN}})',
    });
    await write('auth/ldap/groups/eng', { policies: 'default' });
    await write('auth/ldap/users/user1', { policies: 'default' });
    await write('auth/ldap/login/user1', { password: 'pw1' });
    await write('ldap/config', { ...as(SECRETS_MANAGER), userdn: 'dc=example,dc=org', userattr: 'uid' });
    await write('ldap/static-role/svc1', { username: 'svc1', dn: 'uid=svc1,ou=svc,dc=example,dc=org', rotation_period: '24h' });
    await write('ldap/library/batch', { service_account_names: 'svc2,svc3', ttl: '1h' });
    await write('ldap/role/app', {
      creation_ldif:
        'dn: uid={{.Username}},ou=svc,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: {{.Username}}\ncn: {{.Username}}\nsn: {{.Username}}\nuserPassword: {{.Password}}\n',
      deletion_ldif: 'dn: uid={{.Username}},ou=svc,dc=example,dc=org\nchangetype: delete\n',
      default_ttl: '1h',
    });
  }
  if (moto) {
    const key = { access_key: 'AKIAEXAMPLEEXAMPLE00', secret_key: 'no-secret-of-anybody' };
    await write('aws/config/root', { ...key, region: 'us-east-1', iam_endpoint: moto.endpoint, sts_endpoint: moto.endpoint });
    await write('aws/config/lease', { lease: '1h', lease_max: '24h' });
    await write('aws/roles/app', { credential_type: 'iam_user', policy_arns: 'arn:aws:iam::aws:policy/ReadOnlyAccess' });
    await write('aws/roles/viewer', { credential_type: 'assumed_role', role_arns: 'arn:aws:iam::123456789012:role/deploy' });
    const { port } = new URL(moto.endpoint);
    await write('sys/sync/destinations/aws-sm/prod', {
      access_key_id: key.access_key,
      secret_access_key: key.secret_key,
      region: 'us-east-1',
      endpoint: moto.endpoint,
      allowed_ipv4_addresses: ['127.0.0.1'],
      allowed_ports: [Number(port)],
    });
    await write('sys/sync/destinations/aws-sm/prod/associations/set', { mount: 'kv', secret_name: 'app' });
  }
}

async function call(address: string, token: string, method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${address}/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token === '' ? {} : { 'x-vault-token': token }) },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status}: ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
