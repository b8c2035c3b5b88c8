import { cqlDialect, type SerialRules, StatementInvalid } from '@strongroom/database-sdk';

/** What operators need not write. */
export const REVOCATION_DEFAULT = [`DROP USER IF EXISTS '{{username}}';`];
export const PASSWORD_CHANGE_DEFAULT = [`ALTER USER '{{username}}' WITH PASSWORD '{{password}}';`];

export const rules: SerialRules = {
  name: 'cassandra-database-plugin',
  dialect: cqlDialect,
  defaults: {
    createUser: [`CREATE USER '{{username}}' WITH PASSWORD '{{password}}' NOSUPERUSER;`],
    updateUser: PASSWORD_CHANGE_DEFAULT,
    deleteUser: REVOCATION_DEFAULT,
  },
  /** Cassandra carries out `GRANT … TO` by statements of its own in which the name stands unescaped. */
  checkName(username) {
    if (username.includes("'")) throw new StatementInvalid('a user name must not hold a single quote');
  },
};
