import { startSlapd, type Slapd } from '@strongroom/lab';
import ldapjs from 'ldapjs';
import type { BenchServer } from './bench-server.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';

const USERS = 200;
const people = 'ou=people,dc=example,dc=org';

export interface LoginFigures {
  readonly login: Figures;
  /** Binds of users that an ldapjs client does on 16 connections and nothing else, in the same run: what the machine and slapd give at all. */
  readonly bareBindsPerSecond: number;
  readonly bareBindCpuMicros: number;
}

/**
 * Logins over HTTP against OpenLDAP: search by a service account, bind of the user, search of the groups, policies, identity, and a
 * durable token with its lease.
 */
export async function logins(bench: BenchServer, seconds: number): Promise<LoginFigures> {
  const slapd = await startSlapd();
  try {
    await configure(bench, slapd);
    const texts = Array.from({ length: USERS }, (_, i) =>
      requestText('POST', `/v1/auth/ldap/login/user${i + 1}`, '', JSON.stringify({ password: `pw${i + 1}` })),
    );
    const operation: Operation = async (connection, random) => repeat(texts[Math.floor(random() * USERS)]!)(connection, random);
    await load('warm up', bench.target, operation, { seconds: 2 });
    const before = await bareBinds(slapd.url, seconds / 2);
    const login = await load('ldap login', bench.target, operation, { seconds });
    const after = await bareBinds(slapd.url, seconds / 2);
    return {
      login,
      bareBindsPerSecond: Math.round((before.perSecond + after.perSecond) / 2),
      bareBindCpuMicros: Math.round((before.cpuMicros + after.cpuMicros) / 2),
    };
  } finally {
    await slapd.stop();
  }
}

async function configure({ target }: BenchServer, slapd: Slapd): Promise<void> {
  await once(target, 'POST', '/v1/sys/auth/ldap', { type: 'ldap' });
  await once(target, 'POST', '/v1/auth/ldap/config', {
    url: slapd.url,
    binddn: slapd.adminDn,
    bindpass: slapd.adminPassword,
    userdn: people,
    userattr: 'uid',
    groupdn: 'ou=groups,dc=example,dc=org',
    groupfilter: '(member={{.UserDN}})',
    token_ttl: '1h',
  });
  await once(target, 'POST', '/v1/auth/ldap/groups/eng', { policies: 'engineering' });
}

async function bareBinds(url: string, seconds: number): Promise<{ perSecond: number; cpuMicros: number }> {
  const clients = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const client = ldapjs.createClient({ url });
      await new Promise<void>((resolve, reject) => client.once('connect', () => resolve()).once('error', reject));
      return client;
    }),
  );
  const cpu = process.cpuUsage();
  const began = performance.now();
  let done = 0;
  await Promise.all(
    clients.map(async (client, i) => {
      for (let n = i; performance.now() - began < seconds * 1_000; n += clients.length) {
        const user = (n % USERS) + 1;
        await new Promise<void>((resolve, reject) =>
          client.bind(`uid=user${user},${people}`, `pw${user}`, (error) => (error ? reject(error) : resolve())),
        );
        done += 1;
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  for (const client of clients) client.destroy();
  return { perSecond: Math.round(done / elapsed), cpuMicros: Math.round((user + system) / done) };
}
