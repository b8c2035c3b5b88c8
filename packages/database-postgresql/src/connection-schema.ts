import { sqlConnectionFields } from '@strongroom/database-sdk';
import { type Static, Type } from 'typebox';

const pem = (description: string, secret = false) => Type.Optional(Type.String({ description, ...(secret && { secret }) }));

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
  tls_ca: pem("PEM certificates of the authorities that may have signed the server's certificate."),
  tls_certificate: pem('PEM client certificate, with its chain.'),
  private_key: pem('PEM key of the client certificate.', true),
});

export type PostgresqlConnection = Static<typeof PostgresqlConnection>;
