import { createDirectory } from '@strongroom/ldap-client';
import {
  motoMissing,
  slapdMissing,
  startMoto,
  startPostgres,
  startSlapd,
  type MotoServer,
  type PostgresServer,
  type Slapd,
} from '@strongroom/lab';

/** The outside systems that stay up while a server is fuzzed. One that cannot be had here is undefined. */
export interface Outside {
  readonly postgres: PostgresServer;
  readonly slapd: Slapd | undefined;
  readonly moto: MotoServer | undefined;
  /** Which are missing, and why. */
  readonly missing: readonly string[];
  /** Gives the accounts that the server uses their first passwords again. */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/** The user that the server is configured with in PostgreSQL; not the lab's own, because the fuzz rotates it. */
export const DATABASE_MANAGER = { username: 'manager', password: 'manager-pw' };
/** Two accounts with entries of their own that may change everything in the directory: of logins, and of its secrets engine. */
export const [LOGIN_MANAGER, SECRETS_MANAGER] = [19, 20].map((n) => ({
  dn: `uid=svc${n},ou=svc,dc=example,dc=org`,
  password: `pw${n}`,
})) as [Account, Account];

interface Account {
  readonly dn: string;
  readonly password: string;
}

const ACCESS = `access to * ${[LOGIN_MANAGER, SECRETS_MANAGER].map(({ dn }) => `by dn.exact="${dn}" manage`).join(' ')} by * read`;

export async function startOutside(): Promise<Outside> {
  const running: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const one of running.splice(0).reverse()) await one.stop();
  };
  const started = async <One extends { stop(): Promise<void> }>(starting: Promise<One>): Promise<One> => {
    const one = await starting;
    running.push(one);
    return one;
  };
  try {
    const postgres = await started(startPostgres());
    const slapd = slapdMissing === undefined ? await started(startSlapd({ config: ACCESS })) : undefined;
    const moto = motoMissing === undefined ? await started(startMoto()) : undefined;
    await postgres.query(`CREATE ROLE ${DATABASE_MANAGER.username} SUPERUSER LOGIN`);
    await postgres.query("CREATE ROLE reports LOGIN PASSWORD 'reports-pw'");
    const restore = async (): Promise<void> => {
      await postgres.query(`ALTER ROLE ${DATABASE_MANAGER.username} PASSWORD '${DATABASE_MANAGER.password}'`);
      if (slapd) await restoreAccounts(slapd);
    };
    await restore();
    return { restore, postgres, slapd, moto, missing: [slapdMissing, motoMissing].filter((reason) => reason !== undefined), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function restoreAccounts(slapd: Slapd): Promise<void> {
  const directory = createDirectory({ urls: [slapd.url] });
  try {
    await directory.withServiceConnection({ dn: slapd.adminDn, password: slapd.adminPassword }, async (connection) => {
      for (const { dn, password } of [LOGIN_MANAGER, SECRETS_MANAGER])
        await connection.modify(dn, [{ operation: 'replace', attribute: 'userPassword', values: [password] }]);
    });
  } finally {
    directory.close();
  }
}
