import { describeWhere, findMysql, mariadbMissing, type MysqlOptions, type MysqlServer, startMariadb, startMysql } from '@strongroom/lab';

/** What both servers can be asked for. */
export type TestedServer = MysqlServer;

/** One of the two, and whether it is the first. */
export interface Tested {
  readonly isMariadb: boolean;
  readonly start: (options?: MysqlOptions) => Promise<TestedServer>;
}

const mysql = await findMysql();

/** The same tests against MariaDB and against MySQL, each where it can be had. */
export function describeOnServers(title: string, body: (tested: Tested) => void): void {
  describeWhere(mariadbMissing, `${title}, on MariaDB`, () => body({ isMariadb: true, start: startMariadb }));
  describeWhere('missing' in mysql ? mysql.missing : undefined, `${title}, on MySQL`, () => body({ isMariadb: false, start: startMysql }));
}
