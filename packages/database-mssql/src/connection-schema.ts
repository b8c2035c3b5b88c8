import { sqlConnectionFields } from '@strongroom/database-sdk';
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
  tls_ca: Type.Optional(Type.String({ description: "PEM certificates of the authorities that may have signed the server's certificate." })),
});

export type MssqlConnection = Static<typeof MssqlConnection>;
