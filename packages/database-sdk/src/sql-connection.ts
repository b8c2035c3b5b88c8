import { Type } from 'typebox';

/** A whole number that may come as text, as from a command line. */
const count = (description: string, fallback?: number) =>
  Type.Optional(Type.Integer({ minimum: 0, description, ...(fallback !== undefined && { default: fallback }) }));

/** Connection fields that SQL plugins share: spread them into the plugin's own schema. */
export const sqlConnectionFields = {
  connection_url: Type.String({
    minLength: 1,
    connectionUrl: true,
    description: 'Where the database is. May hold {{username}} and {{password}}, which are escaped as the form of the string needs.',
  }),
  username: Type.Optional(Type.String({ description: 'The user that manages the others.' })),
  password: Type.Optional(Type.String({ secret: true, description: 'Password of that user.' })),
  disable_escaping: Type.Optional(
    Type.Boolean({
      default: false,
      safe: false,
      description: 'Put user name and password into connection_url without escaping special characters.',
    }),
  ),
  max_open_connections: count('The most connections open at a time.', 4),
  max_idle_connections: count('The most idle connections kept; 0 means as many as may be open.'),
  max_connection_lifetime: Type.Optional(
    Type.Union([Type.String(), Type.Number()], {
      default: '0s',
      description: 'How long a connection is reused at most; 0s means for ever.',
    }),
  ),
  username_template: Type.Optional(Type.String({ description: 'Template for the names of dynamic users.' })),
};

/** The field of plugins that take the authorities of the server's certificate as PEM. */
export const tlsCaField = {
  tls_ca: Type.Optional(Type.String({ description: "PEM certificates of the authorities that may have signed the server's certificate." })),
};
