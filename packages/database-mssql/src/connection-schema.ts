import { sqlConnectionFields, tlsCaField } from '@strongroom/database-sdk';
import { type Static, Type } from 'typebox';

/** What `config/<name>` takes for SQL Server, beyond the fields of every connection. */
export const MssqlConnection = Type.Object({
  ...sqlConnectionFields,
  contained_db: Type.Optional(
    Type.Boolean({
      default: false,
      address: false,
      description: 'The database is contained, as on Azure: its users have passwords of their own, and there are no logins.',
    }),
  ),
  ...tlsCaField,
});

export type MssqlConnection = Static<typeof MssqlConnection>;
