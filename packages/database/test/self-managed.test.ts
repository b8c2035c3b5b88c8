import { jest } from '@jest/globals';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import { mysqlPlugin } from '@strongroom/database-mysql';
import { postgresqlPlugin } from '@strongroom/database-postgresql';
import { describeWhere, describeWithMariadb, findMysql, startMariadb, startMysql, startPostgres } from '@strongroom/lab';
import { describeSelfManaged, type SelfManagedServer } from './self-managed-suite.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

async function postgres(): Promise<SelfManagedServer> {
  const server = await startPostgres();
  return {
    plugin: postgresqlPlugin as unknown as DatabasePlugin,
    address: { connection_url: `postgresql://{{username}}:{{password}}@${server.host}:${server.port}/postgres?sslmode=disable` },
    setPassword: async (password) => {
      await server.query(`DO $$ BEGIN CREATE ROLE app LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
      await server.query(`ALTER ROLE app PASSWORD '${password}'`);
    },
    dropUser: async () => void (await server.query('DROP ROLE IF EXISTS app')),
    login: async (password) => server.login('app', password),
    stop: async () => server.stop(),
  };
}

async function mysqlLike(start: typeof startMysql | typeof startMariadb, setting?: string): Promise<SelfManagedServer> {
  const server = await start();
  if (setting !== undefined) await server.query(setting);
  return {
    plugin: mysqlPlugin as unknown as DatabasePlugin,
    address: { connection_url: `{{username}}:{{password}}@tcp(${server.host}:${server.port})/` },
    setPassword: async (password) => {
      await server.query(`CREATE USER IF NOT EXISTS app@'%' IDENTIFIED BY '${password}'`);
      await server.query(`ALTER USER app@'%' IDENTIFIED BY '${password}'`);
    },
    dropUser: async () => void (await server.query('DROP USER IF EXISTS app')),
    login: async (password) => server.login('app', password),
    stop: async () => server.stop(),
  };
}

const mysql = await findMysql();

describeSelfManaged('PostgreSQL', postgres);
describeWhere('missing' in mysql ? mysql.missing : undefined, 'MySQL', () => {
  describeSelfManaged('MySQL, which demands the password that is replaced', async () =>
    mysqlLike(startMysql, 'SET GLOBAL password_require_current = ON'),
  );
});
describeWithMariadb('MariaDB', () => {
  describeSelfManaged('MariaDB', async () => mysqlLike(startMariadb));
});
