import { type Static, Type } from 'typebox';

const text = (description: string, extra: object = {}) => Type.Optional(Type.String({ description, ...extra }));

/** What `config/<name>` takes for MongoDB, beyond the fields of every connection. */
export const MongodbConnection = Type.Object({
  connection_url: Type.String({
    minLength: 1,
    connectionUrl: true,
    description: 'mongodb:// or mongodb+srv://. May hold {{username}} and {{password}}, which are escaped.',
  }),
  username: text('The user that manages the others.'),
  password: text('Password of that user.', { secret: true }),
  disable_escaping: Type.Optional(
    Type.Boolean({
      default: false,
      safe: false,
      description: 'Put user name and password into connection_url without escaping special characters.',
    }),
  ),
  write_concern: text(
    'Write concern of changes to users, a JSON object (or base64 of one) with w or wmode, wtimeout (milliseconds) and j.',
    { address: false },
  ),
  tls_ca: text("PEM certificates of the authorities that may have signed the server's certificate. Turns TLS on."),
  tls_certificate_key: text(
    'PEM client certificate and its key, one after the other. Turns TLS on. Logs in by itself (MONGODB-X509) where connection_url names no user.',
    { secret: true },
  ),
  username_template: text('Template for the names of dynamic users.'),
});

export type MongodbConnection = Static<typeof MongodbConnection>;
