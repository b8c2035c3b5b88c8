import { type Static, Type } from 'typebox';
import { tlsCaField } from '@strongroom/database-sdk';

/** What `config/<name>` takes for Neo4j, beyond the fields of every connection. */
export const Neo4jConnection = Type.Object({
  connection_url: Type.String({
    minLength: 1,
    connectionUrl: true,
    description:
      'Where the server or cluster is: bolt://, bolt+s://, neo4j:// or neo4j+s:// with a host and a port. The schemes with +s speak TLS.',
  }),
  username: Type.String({ minLength: 1, description: 'The user that manages the others.' }),
  password: Type.String({ minLength: 1, secret: true, description: 'Password of that user.' }),
  ...tlsCaField,
  username_template: Type.Optional(Type.String({ description: 'Template for the names of dynamic users.' })),
});

export type Neo4jConnection = Static<typeof Neo4jConnection>;
