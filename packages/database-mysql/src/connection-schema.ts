import { sqlConnectionFields } from '@strongroom/database-sdk';
import { type Static, Type } from 'typebox';

/** What `config/<name>` takes for MySQL and MariaDB, beyond the fields of every connection. */
export const MysqlConnection = Type.Object({
  ...sqlConnectionFields,
  tls_ca: Type.Optional(Type.String({ description: "PEM certificates of the authorities that may have signed the server's certificate." })),
  tls_certificate_key: Type.Optional(
    Type.String({ secret: true, description: 'PEM client certificate of the managing user, with its chain and its key in one text.' }),
  ),
  tls_server_name: Type.Optional(
    Type.String({ description: "The name that the server's certificate must be for, if not the host of connection_url." }),
  ),
  tls_skip_verify: Type.Optional(
    Type.Boolean({ default: false, safe: false, description: "Encrypt without looking at the server's certificate." }),
  ),
});

export type MysqlConnection = Static<typeof MysqlConnection>;
