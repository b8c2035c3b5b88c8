import { GROUPS_DN, PEOPLE_DN, serviceAccountConfig, startSlapd, type Slapd } from '@strongroom/lab';
import { bareLogins } from './bare-login.ts';
import type { BenchServer } from './bench-server.ts';
import { comparedLoad } from './compared-load.ts';
import { requestText } from './http-connection.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';
import { mount, MOUNTS } from './mounts.ts';

const USERS = 200;
const questions = Array.from({ length: USERS }, (_, i) => ({
  user: `user${i + 1}`,
  bindDn: `uid=user${i + 1},${PEOPLE_DN}`,
  password: `pw${i + 1}`,
  people: PEOPLE_DN,
  groups: GROUPS_DN,
}));

const texts = questions.map(({ user, password }) =>
  requestText('POST', `/v1/${MOUNTS.logins}/login/${user}`, '', JSON.stringify({ password })),
);
const operation: Operation = async (connection, random) => repeat(texts[Math.floor(random() * USERS)]!)(connection, random);

export interface LoginFigures {
  readonly login: Figures;
  /** The same searches and binds from clients that do nothing else, in the same run: what the machine and slapd give at all. */
  readonly directoryPerSecond: number;
}

/**
 * Logins over HTTP against OpenLDAP: search by a service account, bind of the user, search of the groups, policies, identity, and a
 * durable token with its lease.
 */
export async function logins(bench: BenchServer, seconds: number): Promise<LoginFigures> {
  const slapd = await startSlapd();
  try {
    await configure(bench, slapd);
    await load('warm up', bench.target, operation, { seconds: 2 });
    const before = await bareLogins(slapd, questions, seconds / 2);
    const login = await load('ldap login', bench.target, operation, { seconds });
    const after = await bareLogins(slapd, questions, seconds / 2);
    return { login, directoryPerSecond: Math.round((before + after) / 2) };
  } finally {
    await slapd.stop();
  }
}

async function configure({ target }: Pick<BenchServer, 'target'>, slapd: Slapd): Promise<void> {
  await mount(target, MOUNTS.logins, 'ldap');
  await once(target, 'POST', `/v1/${MOUNTS.logins}/config`, {
    ...serviceAccountConfig(slapd),
    token_ttl: '1h',
  });
  await once(target, 'POST', `/v1/${MOUNTS.logins}/groups/eng`, { policies: 'engineering' });
}

/** Logins by one directory at several servers. */
export const comparedLogins = comparedLoad(['ldap login'], async (targets) => {
  const slapd = await startSlapd();
  for (const target of targets) await configure({ target }, slapd);
  return { operations: { 'ldap login': () => operation }, stop: async () => slapd.stop() };
});
