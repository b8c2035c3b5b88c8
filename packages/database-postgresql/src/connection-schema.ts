import { sqlConnectionFields, tlsCaField } from '@strongroom/database-sdk';
import { type Static, Type } from 'typebox';

/** What `config/<name>` takes for PostgreSQL, beyond the fields of every connection. */
export const PostgresqlConnection = Type.Object({
  ...sqlConnectionFields,
  password_authentication: Type.Optional(
    Type.String({
      default: 'password',
      address: false,
      description:
        '"password" sends passwords as they are in statements; "scram-sha-256" sends verifiers, so that no log of the server shows a password.',
    }),
  ),
  ...tlsCaField,
  tls_certificate: Type.Optional(Type.String({ description: 'PEM client certificate, with its chain.' })),
  private_key: Type.Optional(Type.String({ description: 'PEM key of the client certificate.', secret: true })),
});

export type PostgresqlConnection = Static<typeof PostgresqlConnection>;
