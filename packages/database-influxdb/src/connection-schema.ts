import { type Static, Type } from 'typebox';

/** `safe`: the value that makes a connection only safer. */
const flag = (description: string, safe: boolean) => Type.Optional(Type.Boolean({ default: false, safe, description }));
const secretPem = (description: string) => Type.Optional(Type.String({ description, secret: true, address: true }));

/** What `config/<name>` takes for InfluxDB, beyond the fields of every connection. */
export const InfluxdbConnection = Type.Object({
  host: Type.String({ minLength: 1, description: 'Where the server is: a name or an address.' }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: 8086, description: 'The port of its HTTP interface.' })),
  username: Type.String({ minLength: 1, description: 'The user that manages the others; must be an administrator.' }),
  password: Type.String({ minLength: 1, secret: true, description: 'Password of that user.' }),
  tls: flag('Speak HTTPS.', true),
  insecure_tls: flag("Accept any certificate of the server's.", false),
  tls_min_version: Type.Optional(
    Type.String({ default: 'tls12', description: 'The oldest version of TLS that is spoken: tls10, tls11, tls12, tls13.' }),
  ),
  pem_bundle: secretPem('PEM, one after the other: a client certificate with key, its authorities, or authorities alone. Turns TLS on.'),
  pem_json: secretPem('The same as JSON with certificate, private_key and issuing_ca, as a PKI engine issues it. Turns TLS on.'),
  connect_timeout: Type.Optional(
    Type.Union([Type.String(), Type.Number()], {
      default: '5s',
      address: false,
      description: 'How long connecting may take: seconds or a duration.',
    }),
  ),
  username_template: Type.Optional(Type.String({ description: 'Template for the names of dynamic users.' })),
});

export type InfluxdbConnection = Static<typeof InfluxdbConnection>;
