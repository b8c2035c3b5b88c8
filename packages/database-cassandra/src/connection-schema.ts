import { type Static, Type } from 'typebox';

const text = (description: string, extra: object = {}) => Type.Optional(Type.String({ description, ...extra }));
const flag = (description: string, extra: object = {}) => Type.Optional(Type.Boolean({ default: false, description, ...extra }));
const duration = (fallback: string, description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Number()], { default: fallback, address: false, description }));

/** What `config/<name>` takes for Cassandra, beyond the fields of every connection. */
export const CassandraConnection = Type.Object({
  hosts: Type.String({ minLength: 1, description: 'Nodes to begin with, separated by commas, each with or without a port.' }),
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, default: 9042, description: 'The port of nodes that are named without one.' }),
  ),
  username: Type.String({ minLength: 1, description: 'The user that manages the others.' }),
  password: Type.String({ minLength: 1, secret: true, description: 'Password of that user.' }),
  tls: flag('Speak TLS.', { safe: true }),
  insecure_tls: flag('Speak TLS and accept any certificate.', { safe: false }),
  tls_server_name: text("The name that is asked for and that a node's certificate must be for, in place of its address."),
  tls_min_version: text('The oldest version of TLS that is spoken: tls10, tls11, tls12, tls13.', { default: 'tls12' }),
  pem_bundle: text('PEM, one after the other: a client certificate with key, its authorities, or authorities alone. Turns TLS on.', {
    secret: true,
    address: true,
  }),
  pem_json: text('The same as JSON with certificate, private_key and issuing_ca, as a PKI engine issues it. Turns TLS on.', {
    secret: true,
    address: true,
  }),
  skip_verification: flag('Do not look, when the connection is verified, whether its user may manage others.', { address: false }),
  protocol_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 5,
      address: false,
      description: 'The newest version of the CQL protocol that is spoken; 0 or absent, whatever both sides know.',
    }),
  ),
  connect_timeout: duration('5s', 'How long connecting to a node may take: seconds or a duration.'),
  socket_keep_alive: duration('0s', 'After how much silence the operating system asks whether a node is still there; 0s means 15 seconds.'),
  local_datacenter: text('The data centre whose nodes are used; all nodes if absent.'),
  consistency: text('Consistency level of statements, such as LOCAL_QUORUM; the driver decides if absent.', { address: false }),
  username_template: text('Template for the names of dynamic users.'),
});

export type CassandraConnection = Static<typeof CassandraConnection>;
