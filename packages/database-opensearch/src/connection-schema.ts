import { type Static, Type } from 'typebox';

/** What `config/<name>` takes for OpenSearch, beyond the fields of every connection. */
export const OpensearchConnection = Type.Object({
  url: Type.String({
    minLength: 1,
    connectionUrl: true,
    description: 'Where the REST interface is, such as https://opensearch.example:9200.',
  }),
  username: Type.String({ minLength: 1, description: 'The user that manages the others. A reserved user cannot change its own password.' }),
  password: Type.String({ minLength: 1, secret: true, description: 'Password of that user.' }),
  ca_cert: Type.Optional(
    Type.String({ description: "PEM certificates of the authorities that may have signed the server's certificate." }),
  ),
  client_cert: Type.Optional(Type.String({ description: 'PEM certificate that the connection shows to the server.' })),
  client_key: Type.Optional(Type.String({ secret: true, description: 'PEM key of that certificate.' })),
  tls_server_name: Type.Optional(Type.String({ description: "Name that the server's certificate must have, if not the one in the URL." })),
  tls_min_version: Type.Optional(
    Type.String({ default: 'tls12', description: 'The oldest version of TLS that is spoken: tls10, tls11, tls12, tls13.' }),
  ),
  insecure: Type.Optional(Type.Boolean({ default: false, safe: false, description: "Accept any certificate of the server's." })),
  username_template: Type.Optional(Type.String({ description: 'Template for the names of dynamic users.' })),
});

export type OpensearchConnection = Static<typeof OpensearchConnection>;
