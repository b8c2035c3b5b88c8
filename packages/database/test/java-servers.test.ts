import { afterAll, describe, jest } from '@jest/globals';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import { neo4jPlugin } from '@strongroom/database-neo4j';
import { opensearchPlugin } from '@strongroom/database-opensearch';
import {
  describeWhere,
  findNeo4j,
  findOpensearch,
  type Neo4jServer,
  type OpensearchDouble,
  type OpensearchServer,
  startNeo4j,
  startOpensearch,
  startOpensearchDouble,
} from '@strongroom/lab';
import { describeCrashOutside } from './crash-outside-suite.ts';
import { neo4jOutside, opensearchOutside } from './outside-servers.ts';
import { describeSelfManaged, type SelfManagedServer } from './self-managed-suite.ts';

// The machine may be busy with other suites, and these servers take their time.
jest.setTimeout(120_000);

function opensearch(server: OpensearchServer | OpensearchDouble): SelfManagedServer {
  const origin = `http://${server.host}:${server.port}`;
  const call = async ([name, password]: readonly [string, string], path: string, method = 'GET', body?: unknown): Promise<void> => {
    const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    const response = await fetch(`${origin}/_plugins/_security${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && !(method === 'DELETE' && response.status === 404)) throw new Error(text);
  };
  const manager = [server.superuser, server.password] as const;
  return {
    plugin: opensearchPlugin as unknown as DatabasePlugin,
    address: { url: origin },
    setPassword: async (password) => call(manager, '/api/internalusers/app', 'PUT', { password }),
    dropUser: async () => call(manager, '/api/internalusers/app', 'DELETE'),
    login: async (password) => call(['app', password], '/authinfo'),
    stop: async () => undefined,
  };
}

function neo4j(server: Neo4jServer): SelfManagedServer {
  const run = async (statement: string): Promise<unknown> => server.query(server.superuser, server.password, statement);
  return {
    plugin: neo4jPlugin as unknown as DatabasePlugin,
    address: { connection_url: `bolt://${server.host}:${server.port}` },
    written: /^200,In Neo4j's Community Edition every user has all rights/,
    setPassword: async (password) => void (await run(`CREATE OR REPLACE USER app SET PASSWORD '${password}' CHANGE NOT REQUIRED`)),
    dropUser: async () => void (await run('DROP USER app IF EXISTS')),
    login: async (password) => server.query('app', password, 'SHOW CURRENT USER'),
    stop: async () => undefined,
  };
}

const [foundOpensearch, foundNeo4j] = [await findOpensearch(), await findNeo4j()];

/** Starts a server for all suites of a `describe`, and stops it after the last. */
function shared<S extends { stop(): Promise<void> }>(start: () => Promise<S>): () => Promise<S> {
  let starting: Promise<S> | undefined;
  afterAll(async () => (await starting)?.stop());
  return async () => (starting ??= start());
}

describe('a double', () => {
  const double = shared(startOpensearchDouble);
  describeSelfManaged('a double of OpenSearch', async () => opensearch(await double()));
});
describeWhere('missing' in foundOpensearch ? foundOpensearch.missing : undefined, 'OpenSearch', () => {
  const server = shared(startOpensearch);
  describeSelfManaged('OpenSearch', async () => opensearch(await server()));
  // The double is killed at everything: here each call takes its time.
  describeCrashOutside('OpenSearch', async () => opensearchOutside(await server()), { rotation: 4, root: 4, losses: ['answer'] });
});
describeWhere('missing' in foundNeo4j ? foundNeo4j.missing : undefined, 'Neo4j', () => {
  const server = shared(startNeo4j);
  describeSelfManaged('Neo4j', async () => neo4j(await server()));
  describeCrashOutside('Neo4j', async () => neo4jOutside(await server()), { creation: 2, removal: 2, rotation: 5, root: 6 });
});
