import { startSlapd, type Slapd } from '@strongroom/lab';
import ldapjs from 'ldapjs';
import type { BenchServer } from './bench-server.ts';
import { comparedLoad } from './compared-load.ts';
import { requestText, type Answer } from './http-connection.ts';
import { load, once, type Figures, type Operation } from './load.ts';
import { mount, MOUNTS } from './mounts.ts';

const CONNECTIONS = 16;
/** Accounts of the set, twice as many as there are borrowers. */
const ACCOUNTS = 64;
const SERVICES = 'ou=svc,dc=example,dc=org';
/** Static roles that fall due in the same second. */
const STATIC_ROLES = 1_000;
const DUE = 'ou=due,dc=example,dc=org';
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
  /** How many static roles fell due in the same second, and the seconds until the directory had the last of the new passwords. */
  readonly rotations: { readonly count: number; readonly seconds: number };
  /** An entry added and deleted by an ldapjs client on 16 connections that does nothing else, in the same run: what the machine and slapd give at all. */
  readonly barePairsPerSecond: number;
  readonly barePairCpuMicros: number;
}

/**
 * Accounts of OpenLDAP over HTTP: made for a lease, with both commits of the journal, and taken away with it; then lent by a set and brought
 * back, with a password changed and stored each time; and a thousand whose rotation falls due together.
 */
export async function ldapAccounts(bench: BenchServer, seconds: number): Promise<LdapSecretsFigures> {
  const lent = accountNames.map((uid) => account(uid, SERVICES));
  const due = Array.from({ length: STATIC_ROLES }, (_, i) => account(`due${i}`, DUE));
  const base = `dn: ${DUE}\nobjectClass: organizationalUnit\nou: due\n`;
  const slapd = await startSlapd({ ldif: [...lent, base, ...due].join('\n') });
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
    const rotations = { count: STATIC_ROLES, seconds: await secondsOfRotations(bench, slapd) };
    return {
      creation,
      creationAndRevocation,
      loan,
      rotations,
      barePairsPerSecond: Math.round((before.perSecond + after.perSecond) / 2),
      barePairCpuMicros: Math.round((before.cpuMicros + after.cpuMicros) / 2),
    };
  } finally {
    await slapd.stop();
  }
}

function operations(token: string): { create: Operation; createAndRevoke: Operation; borrowAndReturn: Operation } {
  const ask = requestText('GET', `/v1/${MOUNTS.ldap}/creds/app`, token);
  const borrow = requestText('POST', `/v1/${MOUNTS.ldap}/library/bench/check-out`, token, '{}');
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
      const bringBack = requestText(
        'POST',
        `/v1/${MOUNTS.ldap}/library/bench/check-in`,
        token,
        JSON.stringify({ service_account_names: names }),
      );
      const { data } = JSON.parse(expected('check-in', 200, await connection.send(bringBack))) as { data: { check_ins: string[] } };
      if (data.check_ins[0] !== names[0]) throw new Error(`check-in: ${JSON.stringify(data)}`);
    },
  };
}

function expected(what: string, status: number, answer: Answer): string {
  if (answer.status !== status) throw new Error(`${what}: ${answer.status} ${answer.body.slice(0, 300)}`);
  return answer.body;
}

function account(uid: string, base: string): string {
  return `dn: uid=${uid},${base}\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: ${uid}\nuserPassword: first\n`;
}

async function configure({ target }: Pick<BenchServer, 'target'>, slapd: Slapd): Promise<void> {
  await mount(target, MOUNTS.ldap, 'ldap');
  await once(target, 'POST', `/v1/${MOUNTS.ldap}/config`, {
    url: slapd.url,
    binddn: slapd.adminDn,
    bindpass: slapd.adminPassword,
    userdn: SERVICES,
    userattr: 'uid',
  });
  await once(target, 'POST', `/v1/${MOUNTS.ldap}/role/app`, { creation_ldif, deletion_ldif, default_ttl: '1h' });
  await once(target, 'POST', `/v1/${MOUNTS.ldap}/library/bench`, { service_account_names: accountNames });
}

/** Roles whose schedule names the same minute, once a day; the directory is asked until no password is the first one. */
async function secondsOfRotations({ target }: BenchServer, slapd: Slapd): Promise<number> {
  const due = new Date(Math.ceil((Date.now() + 20_000) / 60_000) * 60_000);
  const rotation_schedule = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  let defined = 0;
  const define: Operation = async (connection) => {
    const uid = `due${(defined += 1) - 1}`;
    const role = { username: uid, dn: `uid=${uid},${DUE}`, rotation_schedule, skip_import_rotation: true };
    expected(
      uid,
      204,
      await connection.send(requestText('POST', `/v1/${MOUNTS.ldap}/static-role/${uid}`, target.token, JSON.stringify(role))),
    );
  };
  await load('define', target, define, { count: STATIC_ROLES });
  if (Date.now() > due.getTime()) throw new Error('the static roles were not defined before they were due');
  const client = await boundClient(slapd);
  try {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due.getTime() - Date.now())));
    while ((await unrotated(client)) > 0) {
      if (Date.now() - due.getTime() > 300_000) throw new Error('static roles are still not rotated five minutes after they were due');
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    return (Date.now() - due.getTime()) / 1_000;
  } finally {
    client.destroy();
  }
}

async function unrotated(client: ldapjs.Client): Promise<number> {
  return new Promise((resolve, reject) => {
    client.search(DUE, { scope: 'one', filter: '(userPassword=first)', attributes: ['1.1'] }, (error, found) => {
      if (error) return reject(error);
      let count = 0;
      found.on('searchEntry', () => (count += 1));
      found.on('error', reject);
      found.on('end', () => resolve(count));
    });
  });
}

async function boundClient(slapd: Slapd): Promise<ldapjs.Client> {
  const client = ldapjs.createClient({ url: slapd.url });
  await settled((done) => client.bind(slapd.adminDn, slapd.adminPassword, done));
  return client;
}

async function barePairs(slapd: Slapd, seconds: number): Promise<{ perSecond: number; cpuMicros: number }> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, async () => boundClient(slapd)));
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

/** Accounts of one directory from several servers, which share the accounts that they lend: one server is loaded at a time. */
export const comparedAccounts = comparedLoad(['ldap creds+rev', 'ldap out+in'], async (targets) => {
  const slapd = await startSlapd({ ldif: accountNames.map((uid) => account(uid, SERVICES)).join('\n') });
  for (const target of targets) await configure({ target }, slapd);
  return {
    operations: {
      'ldap creds+rev': ({ token }) => operations(token).createAndRevoke,
      'ldap out+in': ({ token }) => operations(token).borrowAndReturn,
    },
    stop: async () => slapd.stop(),
  };
});
