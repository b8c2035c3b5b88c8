import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeWhere } from './describe-where.ts';
import { freeLoopbackAddress, listening } from './loopback.ts';
import { adminPassword, applyLdifTo, binary, domain, domainTemplate, sambaMissing, tool } from './samba-domain.ts';
import { createTestCa, type TestCa } from './test-ca.ts';

export { sambaMissing };

const run = promisify(execFile);

/** A private Active Directory domain controller: Samba, on a loopback address of its own, its data in a temporary folder. */
export interface SambaServer {
  /** The address; the ports are 389 and 636, as Samba knows no others. */
  readonly host: string;
  /** `ldap://<host>`; StartTLS is offered, and binds in clear are accepted. Passwords can be changed over TLS alone. */
  readonly url: string;
  readonly ldapsUrl: string;
  /** Domain of user principal names. */
  readonly realm: 'corp.example';
  /** `CORP\name` binds as well. */
  readonly domain: 'CORP';
  readonly baseDn: 'DC=corp,DC=example';
  /** Where users and groups are. */
  readonly usersDn: 'CN=Users,DC=corp,DC=example';
  readonly adminDn: string;
  readonly adminPassword: string;
  /** The CA of the server's certificate, which is good for `host` and `dc1.corp.example`. */
  readonly ca: TestCa;
  /**
   * Applies LDIF to the database, past the server and its access rules: what comes from `adUser` and `adGroup`, or records with
   * `changetype: modify` or `delete`. With `bare` past the modules of the database too, which lets system attributes such as `pwdLastSet` be set.
   */
  apply(ldif: string, options?: { readonly bare?: boolean }): Promise<void>;
  /** Runs `samba-tool` on the database and returns its output. */
  tool(...args: string[]): Promise<string>;
  /** Kills the server without removing its data. */
  halt(): Promise<void>;
  /** Halts it if it runs, and starts it again at the same address with the same data. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Idempotent. */
  stop(): Promise<void>;
}

export interface SambaOptions {
  /** Records to begin with, as `apply` takes them. */
  readonly ldif?: string;
  /** Wrong passwords that lock an account; 0, the default, for none. */
  readonly lockoutThreshold?: number;
  /** Lines for the `[global]` section of smb.conf. */
  readonly settings?: readonly string[];
}

/** `describe` for tests that need Samba; without it they are skipped, and the title and a warning say why. */
export function describeWithSamba(title: string, body: () => void): void {
  describeWhere(sambaMissing, title, body);
}

/**
 * Starts a domain controller with nobody in it but what Samba makes itself. Passwords need four characters, may be changed at once and
 * never expire. The domain is made once for each version of Samba, and copied.
 */
export async function startSamba(options: SambaOptions = {}): Promise<SambaServer> {
  if (sambaMissing !== undefined) throw new Error(sambaMissing);
  const template = await domainTemplate();
  const folder = await mkdtemp(join(tmpdir(), 'samba-'));
  const ca = createTestCa();
  const config = join(folder, 'smb.conf');
  let server: ChildProcess | undefined;
  const kill = (): void => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', kill);
  const halt = async (): Promise<void> => {
    const ending = server;
    server = undefined;
    if (ending !== undefined) await ended(ending);
  };
  const stop = async (): Promise<void> => {
    await halt();
    process.removeListener('exit', kill);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await cp(template, join(folder, 'dc'), { recursive: true });
    const host = await freeLoopbackAddress(389);
    const { cert, key } = ca.issue('dc1.corp.example', ['DNS:dc1.corp.example', `IP:${host}`]);
    await Promise.all([
      writeFile(join(folder, 'ca.pem'), ca.certificate),
      writeFile(join(folder, 'cert.pem'), cert),
      writeFile(join(folder, 'key.pem'), key, { mode: 0o600 }),
      writeFile(config, smbConf(folder, host, options.settings ?? [])),
      ...['run', 'ncalrpc', 'winbindd', 'cache', 'lock'].map((name) => mkdir(join(folder, name), { mode: 0o755 })),
    ]);
    const apply: SambaServer['apply'] = (ldif, { bare = false } = {}) => applyLdifTo(join(folder, 'dc/private'), config, ldif, bare);
    if (options.lockoutThreshold !== undefined)
      await apply(
        `dn: ${domain.baseDn}\nchangetype: modify\nreplace: lockoutThreshold\nlockoutThreshold: ${options.lockoutThreshold}\n-\n`,
      );
    if (options.ldif !== undefined) await apply(options.ldif);
    const start = async (): Promise<void> => void (server = await launch(config, folder, host));
    await start();
    return {
      host,
      url: `ldap://${host}`,
      ldapsUrl: `ldaps://${host}`,
      ...domain,
      adminDn: `CN=Administrator,${domain.usersDn}`,
      adminPassword,
      ca,
      apply,
      tool: async (...args) => (await run(tool!, [...args, '-s', config, '-H', join(folder, 'dc/private/sam.ldb')])).stdout,
      halt,
      restart: async () => {
        await halt();
        await start();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function smbConf(folder: string, host: string, settings: readonly string[]): string {
  const lines = [
    'netbios name = DC1',
    `realm = ${domain.realm.toUpperCase()}`,
    `workgroup = ${domain.domain}`,
    'server role = active directory domain controller',
    'server services = ldap',
    'dcerpc endpoint servers = none',
    'ldap server require strong auth = no',
    `interfaces = ${host}/8`,
    'bind interfaces only = yes',
    `private dir = ${folder}/dc/private`,
    `state directory = ${folder}/dc/state`,
    `cache directory = ${folder}/cache`,
    `lock directory = ${folder}/lock`,
    `pid directory = ${folder}/run`,
    `ncalrpc dir = ${folder}/ncalrpc`,
    `winbindd socket directory = ${folder}/winbindd`,
    `log file = ${folder}/log`,
    'tls enabled = yes',
    `tls cafile = ${folder}/ca.pem`,
    `tls certfile = ${folder}/cert.pem`,
    `tls keyfile = ${folder}/key.pem`,
    ...settings,
  ];
  return `[global]\n${lines.map((line) => `\t${line}\n`).join('')}`;
}

async function launch(config: string, folder: string, host: string): Promise<ChildProcess> {
  const server = spawn(binary!, ['-i', '--no-process-group', '-M', 'single', '-s', config], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let output = '';
  server.stderr!.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
  for (let tries = 0; tries < 400; tries += 1) {
    if (server.exitCode !== null || server.signalCode !== null) break;
    if ((await listening(389, host)) && (await listening(636, host))) return unreferenced(server);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  server.kill('SIGKILL');
  throw new Error(`samba does not listen: ${output}${await readFile(join(folder, 'log'), 'utf8').catch(() => '')}`);
}

/** A server that a failed test forgot must not keep the test run alive. Its standard input stays open: Samba ends with it. */
function unreferenced(server: ChildProcess): ChildProcess {
  server.unref();
  for (const stream of [server.stdin, server.stderr]) (stream as Socket).unref();
  return server;
}

function ended(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.ref();
    server.once('exit', () => resolve());
    server.kill('SIGKILL');
  });
}
