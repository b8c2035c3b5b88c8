import type { SerialRules } from '@strongroom/database-sdk';
import { cypherDialect, type CypherStatement, cypherStatements } from './cypher.ts';

/** What operators need not write. */
export const CREATION_DEFAULT = ['CREATE USER {{name}} SET PASSWORD {{password}} CHANGE NOT REQUIRED'];
export const REVOCATION_DEFAULT = ['DROP USER {{name}} IF EXISTS'];
export const PASSWORD_CHANGE_DEFAULT = ['ALTER USER {{username}} SET PASSWORD {{password}} CHANGE NOT REQUIRED'];

export const rules: SerialRules<CypherStatement> = {
  name: 'neo4j-database-plugin',
  dialect: cypherDialect,
  render: cypherStatements,
  defaults: { createUser: CREATION_DEFAULT, updateUser: PASSWORD_CHANGE_DEFAULT, deleteUser: REVOCATION_DEFAULT },
};
