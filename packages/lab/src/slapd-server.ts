import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWhere } from './describe-where.ts';
import { freePorts, listening } from './loopback.ts';
import { createTestCa } from './test-ca.ts';
import type { TestCa } from './test-ca.ts';

export interface SlapdOptions {
  /** Records added to the tree below. */
  ldif?: string;
  /** Lines for the end of the database section of slapd.conf, such as `access to …`. */
  config?: string;
  /** Global lines of slapd.conf, such as `disallow bind_anon` or `TLSVerifyClient demand`. */
  globalConfig?: string;
  /** Names of Debian's overlay modules to load, such as `ppolicy`. */
  modules?: readonly string[];
}

export interface Slapd {
  /** `ldap://127.0.0.1:port`; StartTLS is offered. */
  url: string;
  ldapsUrl: string;
  port: number;
  adminDn: string;
  adminPassword: string;
  /** The CA of the server's certificate, which is good for `localhost` and `127.0.0.1`. */
  ca: TestCa;
  /** Kills the server and starts it again on the same ports and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const binary = ['/usr/sbin/slapd', '/usr/local/sbin/slapd', '/usr/local/libexec/slapd'].find((path) => existsSync(path));
const schemas = '/etc/ldap/schema';

/** Why tests against slapd cannot run here; undefined when they can. */
export const slapdMissing =
  binary === undefined ? 'slapd is not installed' : existsSync(`${schemas}/nis.schema`) ? undefined : `there is no schema in ${schemas}`;

/** `describe` for tests that need a server; without one they are skipped, and the title and a warning say why. */
export function describeWithSlapd(title: string, body: () => void): void {
  describeWhere(slapdMissing, title, body);
}

/**
 * A private OpenLDAP server on free loopback ports, with this tree under dc=example,dc=org:
 * ou=people with uid=user1…user200 (cn `User N`, mail `userN@example.org`, password `pwN`), ou=svc with uid=svc1…svc20 (password `pwN`),
 * ou=groups with cn=eng (user1…user100) and cn=ops (user50…user60), both groupOfNames.
 */
export async function startSlapd(options: SlapdOptions = {}): Promise<Slapd> {
  if (binary === undefined) throw new Error(slapdMissing);
  const folder = mkdtempSync(join(tmpdir(), 'slapd-'));
  const adminDn = 'cn=admin,dc=example,dc=org';
  const adminPassword = 'adminpw';
  const ca = createTestCa();
  const { cert, key } = ca.issue('localhost', ['DNS:localhost', 'IP:127.0.0.1']);
  for (const [name, text] of Object.entries({ 'ca.pem': ca.certificate, 'cert.pem': cert, 'key.pem': key }))
    writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'db'));
  const config = join(folder, 'slapd.conf');
  writeFileSync(
    config,
    `${['core', 'cosine', 'inetorgperson', 'nis'].map((name) => `include ${schemas}/${name}.schema`).join('\n')}
pidfile ${folder}/pid
modulepath /usr/lib/ldap
moduleload back_mdb
${(options.modules ?? []).map((name) => `moduleload ${name}`).join('\n')}
TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
sizelimit unlimited
${options.globalConfig ?? ''}
database mdb
maxsize 268435456
dbnosync
suffix "dc=example,dc=org"
rootdn "${adminDn}"
rootpw ${adminPassword}
directory ${folder}/db
index objectClass,uid,cn,member,memberUid eq
${options.config ?? ''}
`,
  );
  writeFileSync(join(folder, 'base.ldif'), `${tree()}\n${options.ldif ?? ''}\n`);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync(binary, ['-T', 'add', '-q', '-f', config, '-l', join(folder, 'base.ldif')], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [port, tlsPort] = (await freePorts(2)) as [number, number];
    const url = `ldap://127.0.0.1:${port}`;
    const ldapsUrl = `ldaps://127.0.0.1:${tlsPort}`;
    let server = await launch(binary, config, `${url} ${ldapsUrl}`, [port, tlsPort]);
    const forgotten = (): void => {
      server.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    };
    process.once('exit', forgotten);
    return {
      url,
      ldapsUrl,
      port,
      adminDn,
      adminPassword,
      ca,
      restart: async () => {
        await end(server);
        server = await launch(binary, config, `${url} ${ldapsUrl}`, [port, tlsPort]);
      },
      stop: async () => {
        await end(server);
        process.removeListener('exit', forgotten);
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function tree(): string {
  const person = (ou: string, uid: string, cn: string, n: number): string =>
    `dn: uid=${uid},ou=${ou},dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: ${uid}\ncn: ${cn}\nsn: ${n}\nmail: ${uid}@example.org\nuserPassword: pw${n}\n`;
  const group = (cn: string, first: number, last: number): string => {
    const members = range(first, last).map((n) => `member: uid=user${n},ou=people,dc=example,dc=org`);
    return `dn: cn=${cn},ou=groups,dc=example,dc=org\nobjectClass: groupOfNames\ncn: ${cn}\n${members.join('\n')}\n`;
  };
  return [
    'dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n',
    ...['people', 'groups', 'svc'].map((ou) => `dn: ou=${ou},dc=example,dc=org\nobjectClass: organizationalUnit\nou: ${ou}\n`),
    ...range(1, 200).map((n) => person('people', `user${n}`, `User ${n}`, n)),
    ...range(1, 20).map((n) => person('svc', `svc${n}`, `svc${n}`, n)),
    group('eng', 1, 100),
    group('ops', 50, 60),
  ].join('\n');
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

async function launch(path: string, config: string, urls: string, ports: readonly number[]): Promise<ChildProcess> {
  const server = spawn(path, ['-d', '0', '-f', config, '-h', urls], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  server.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  for (let tries = 0; tries < 200; tries++) {
    if (server.exitCode !== null) throw new Error(`slapd did not start: ${output}`);
    if ((await Promise.all(ports.map((port) => listening(port)))).every(Boolean)) return server;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  server.kill('SIGKILL');
  throw new Error(`slapd does not listen: ${output}`);
}

function end(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.once('exit', () => resolve());
    server.kill('SIGTERM');
    const force = setTimeout(() => server.kill('SIGKILL'), 5_000);
    server.once('exit', () => clearTimeout(force));
  });
}
