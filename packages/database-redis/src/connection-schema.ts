import { type Static, Type } from 'typebox';

const text = (description: string, extra: object = {}) => Type.Optional(Type.String({ description, ...extra }));
/** `safe`: the value that makes a connection only safer. */
const flag = (description: string, safe: boolean) => Type.Optional(Type.Boolean({ default: false, safe, description }));

/** What `config/<name>` takes for Redis and Valkey, beyond the fields of every connection. */
export const RedisConnection = Type.Object({
  host: text('Where the server is: a name or an address.'),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: 6379, description: 'Its port.' })),
  connection_url: text('In place of host and port: redis://, rediss://, valkey:// or valkeys://. May hold {{username}} and {{password}}.', {
    connectionUrl: true,
  }),
  username: text('The user that manages the others; "default" if absent.'),
  password: text('Password of that user.', { secret: true }),
  disable_escaping: flag('Put user name and password into connection_url without escaping special characters.', false),
  tls: flag('Speak TLS.', true),
  insecure_tls: flag("Accept any certificate of the server's.", false),
  ca_cert: text("PEM certificates of the authorities that may have signed the server's certificate; the system's if absent."),
  tls_certificate: text('PEM client certificate, with its chain.'),
  private_key: text('PEM key of the client certificate.', { secret: true }),
  persistence_mode: text(
    'Where the server keeps users: "ACLFILE" runs ACL SAVE after every change, "REWRITE" runs CONFIG REWRITE; absent, they are in memory alone.',
    { address: false },
  ),
  username_template: text('Template for the names of dynamic users.'),
});

export type RedisConnection = Static<typeof RedisConnection>;
