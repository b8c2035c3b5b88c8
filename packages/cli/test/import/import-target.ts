import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { approleAuth } from '@strongroom/auth-approle';
import { certAuth } from '@strongroom/auth-cert';
import { jwtAuth, oidcAuth } from '@strongroom/auth-jwt';
import { kubernetesAuth } from '@strongroom/auth-kubernetes';
import { ldapAuth } from '@strongroom/auth-ldap';
import { userpassAuth } from '@strongroom/auth-userpass';
import { awsEngine } from '@strongroom/cloud';
import type { Core } from '@strongroom/core';
import type { Plugin } from '@strongroom/engine-sdk';
import { databaseEngine } from '@strongroom/database';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { checkedCore } from '@strongroom/engine-testkit';
import { createHttpServer } from '@strongroom/http';
import { kvEngine } from '@strongroom/kv';
import { ldapSecrets } from '@strongroom/ldap-secrets';
import { memoryStorage } from '@strongroom/storage-sdk';
import { runCli } from '../../src/index.ts';

const logins = [approleAuth, certAuth, jwtAuth, oidcAuth, kubernetesAuth, ldapAuth, userpassAuth];

/** A Strongroom server in this process, whose answers are checked against their declarations. The root token is `root`. */
export interface TestServer {
  readonly core: Core;
  readonly address: string;
  /** `data` of a read; undefined for a 404. */
  read(path: string, query?: Record<string, unknown>): Promise<Record<string, unknown> | undefined>;
  write(path: string, data: Record<string, unknown>): Promise<Record<string, unknown> | undefined>;
  list(path: string): Promise<string[]>;
  close(): Promise<void>;
}

/** `plugins`: of what it is made. */
export async function testServer(
  plugins: readonly Plugin[] = [kvEngine, databaseEngine, postgresqlPlugin, ldapSecrets, awsEngine, ...logins],
): Promise<TestServer> {
  const core = await checkedCore({ storage: memoryStorage(), plugins, devRootToken: 'root' });
  const server = createHttpServer(core) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const call = async (operation: 'read' | 'list' | 'update', path: string, data: Record<string, unknown> = {}) => {
    const answer = await core.handle({ operation, path, data, token: 'root', remoteAddress: '127.0.0.1' });
    if (answer.status >= 400 && answer.status !== 404) throw new Error(`${operation} ${path}: ${answer.errors?.join('; ')}`);
    return (answer.data ?? undefined) as Record<string, unknown> | undefined;
  };
  return {
    core,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    read: async (path, query) => call('read', path, query),
    write: async (path, data) => call('update', path, data),
    list: async (path) => ((await call('list', path))?.['keys'] ?? []) as string[],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await core.close();
    },
  };
}

/** What the command printed, and its exit code. */
export interface ImportRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `strongroom operator import` from one server into another. `token`: that of the source. */
export async function importFrom(
  source: { readonly address: string },
  target: { readonly address: string },
  words: readonly string[],
  { token = 'source-root' }: { token?: string } = {},
): Promise<ImportRun> {
  const [stdout, stderr] = [collector(), collector()];
  const code = await runCli(['operator', 'import', `-source-address=${source.address}`, ...words], {
    env: { STRONGROOM_ADDR: target.address, STRONGROOM_TOKEN: 'root', SOURCE_TOKEN: token, HOME: '/nonexistent' },
    stdin: Readable.from([]),
    ...{ stdout, stderr, isTty: false },
    sleep: async () => Promise.resolve(),
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** One line of the report. */
export interface ReportLine {
  readonly kind: string;
  readonly path: string;
  readonly outcome: string;
  readonly why?: string;
  readonly command?: string;
  readonly diff?: readonly string[];
  readonly settings?: unknown;
}

export interface ImportReport {
  readonly code: number;
  readonly stopped?: string;
  readonly applied: boolean;
  readonly totals: Readonly<Record<string, number>>;
  readonly verified?: { readonly checked: number; readonly different: readonly string[] };
  readonly objects: readonly ReportLine[];
  /** The lines of an outcome, by path. */
  of(outcome: string): string[];
  line(path: string): ReportLine;
}

/** The same, with the report as JSON. */
export async function reportOf(...[source, target, words, options]: Parameters<typeof importFrom>): Promise<ImportReport> {
  const { code, stdout, stderr } = await importFrom(source, target, [...words, '-format=json'], options);
  if (stdout === '') throw new Error(stderr);
  const report = JSON.parse(stdout) as Omit<ImportReport, 'code' | 'of' | 'line'>;
  return {
    code,
    ...report,
    of: (outcome) => report.objects.filter((line) => line.outcome === outcome).map(({ path }) => path),
    line: (path) => report.objects.find((line) => line.path === path)!,
  };
}

function collector(): Writable & { text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString('utf8'));
      done();
    },
  });
  return Object.assign(stream, { text: () => chunks.join('') });
}
