import { startSlapd, type Slapd } from '@strongroom/lab';
import ldapjs from 'ldapjs';
import type { BenchServer } from './bench-server.ts';
import { requestText, type Answer } from './http-connection.ts';
import { load, once, type Figures, type Operation } from './load.ts';

const CONNECTIONS = 16;
/** Accounts of the set, twice as many as there are borrowers. */
const ACCOUNTS = 64;
const SERVICES = 'ou=svc,dc=example,dc=org';
const accountNames = Array.from({ length: ACCOUNTS }, (_, i) => `lent${i}`);

const creation_ldif = `dn: uid={{.Username}},${SERVICES}
objectClass: inetOrgPerson
uid: {{.Username}}
cn: {{.Username}}
sn: {{.RoleName}}
userPassword: {{.Password}}
`;
const deletion_ldif = `dn: uid={{.Username}},${SERVICES}
changetype: delete
`;

export interface LdapSecretsFigures {
  readonly creation: Figures;
  readonly creationAndRevocation: Figures;
  readonly loan: Figures;
  /** An entry added and deleted by an ldapjs client on 16 connections that does nothing else, in the same run: what the machine and slapd give at all. */
  readonly barePairsPerSecond: number;
  readonly barePairCpuMicros: number;
}

/**
 * Accounts of OpenLDAP over HTTP: made for a lease, with both commits of the journal, and taken away with it; then lent by a set and brought
 * back, with a password changed and stored each time.
 */
export async function ldapAccounts(bench: BenchServer, seconds: number): Promise<LdapSecretsFigures> {
  const slapd = await startSlapd({ ldif: accountNames.map(account).join('\n') });
  try {
    await configure(bench, slapd);
    const { target } = bench;
    const { create, createAndRevoke, borrowAndReturn } = operations(target.token);
    await load('warm up', target, createAndRevoke, { seconds: 2 });
    await load('warm up', target, borrowAndReturn, { seconds: 1 });
    const before = await barePairs(slapd, seconds / 2);
    const creationAndRevocation = await load('ldap creds+rev', target, createAndRevoke, { seconds });
    const loan = await load('ldap out+in', target, borrowAndReturn, { seconds });
    const after = await barePairs(slapd, seconds / 2);
    const creation = await load('ldap creds', target, create, { seconds });
    return {
      creation,
      creationAndRevocation,
      loan,
      barePairsPerSecond: Math.round((before.perSecond + after.perSecond) / 2),
      barePairCpuMicros: Math.round((before.cpuMicros + after.cpuMicros) / 2),
    };
  } finally {
    await slapd.stop();
  }
}

function operations(token: string): { create: Operation; createAndRevoke: Operation; borrowAndReturn: Operation } {
  const ask = requestText('GET', '/v1/ldap/creds/app', token);
  const borrow = requestText('POST', '/v1/ldap/library/bench/check-out', token, '{}');
  const create: Operation = async (connection) => void expected('creds', 200, await connection.send(ask));
  return {
    create,
    createAndRevoke: async (connection) => {
      const { lease_id } = JSON.parse(expected('creds', 200, await connection.send(ask))) as { lease_id: string };
      const revoke = requestText('PUT', '/v1/sys/leases/revoke', token, JSON.stringify({ lease_id, sync: true }));
      expected('revoke', 204, await connection.send(revoke));
    },
    borrowAndReturn: async (connection) => {
      const lent = JSON.parse(expected('check-out', 200, await connection.send(borrow))) as { data: { service_account_name: string } };
      const names = [lent.data.service_account_name];
      const bringBack = requestText('POST', '/v1/ldap/library/bench/check-in', token, JSON.stringify({ service_account_names: names }));
      const { data } = JSON.parse(expected('check-in', 200, await connection.send(bringBack))) as { data: { check_ins: string[] } };
      if (data.check_ins[0] !== names[0]) throw new Error(`check-in: ${JSON.stringify(data)}`);
    },
  };
}

function expected(what: string, status: number, answer: Answer): string {
  if (answer.status !== status) throw new Error(`${what}: ${answer.status} ${answer.body.slice(0, 300)}`);
  return answer.body;
}

function account(uid: string): string {
  return `dn: uid=${uid},${SERVICES}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: ${uid}\nuserPassword: first\n`;
}

async function configure({ target }: BenchServer, slapd: Slapd): Promise<void> {
  await once(target, 'POST', '/v1/sys/mounts/ldap', { type: 'ldap' });
  await once(target, 'POST', '/v1/ldap/config', {
    url: slapd.url,
    binddn: slapd.adminDn,
    bindpass: slapd.adminPassword,
    userdn: SERVICES,
    userattr: 'uid',
  });
  await once(target, 'POST', '/v1/ldap/role/app', { creation_ldif, deletion_ldif, default_ttl: '1h' });
  await once(target, 'POST', '/v1/ldap/library/bench', { service_account_names: accountNames });
}

async function barePairs(slapd: Slapd, seconds: number): Promise<{ perSecond: number; cpuMicros: number }> {
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = ldapjs.createClient({ url: slapd.url });
      await settled((done) => client.bind(slapd.adminDn, slapd.adminPassword, done));
      return client;
    }),
  );
  const cpu = process.cpuUsage();
  const began = performance.now();
  let made = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - began < seconds * 1_000) {
        const uid = `bare-${process.pid}-${(made += 1)}`;
        const dn = `uid=${uid},${SERVICES}`;
        const entry = { objectClass: 'inetOrgPerson', uid, cn: uid, sn: 'bare', userPassword: 'bare-password' };
        await settled((done) => client.add(dn, entry, done));
        await settled((done) => client.del(dn, done));
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  for (const client of clients) client.destroy();
  return { perSecond: Math.round(made / elapsed), cpuMicros: Math.round((user + system) / made) };
}

async function settled(begin: (done: (error: Error | null) => void) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => begin((error) => (error ? reject(error) : resolve())));
}
