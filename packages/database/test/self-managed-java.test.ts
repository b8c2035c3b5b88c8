import { jest } from '@jest/globals';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import { neo4jPlugin } from '@strongroom/database-neo4j';
import { opensearchPlugin } from '@strongroom/database-opensearch';
import { describeWhere, findNeo4j, findOpensearch, startNeo4j, startOpensearch, startOpensearchDouble } from '@strongroom/lab';
import { describeSelfManaged, type SelfManagedServer } from './self-managed-suite.ts';

// The machine may be busy with other suites, and these servers take their time.
jest.setTimeout(120_000);

async function opensearch(start: typeof startOpensearch | typeof startOpensearchDouble): Promise<SelfManagedServer> {
  const server = await start();
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
    stop: async () => server.stop(),
  };
}

async function neo4j(): Promise<SelfManagedServer> {
  const server = await startNeo4j();
  const run = async (statement: string): Promise<unknown> => server.query(server.superuser, server.password, statement);
  return {
    plugin: neo4jPlugin as unknown as DatabasePlugin,
    address: { connection_url: `bolt://${server.host}:${server.port}` },
    written: /^200,In Neo4j's Community Edition every user has all rights/,
    setPassword: async (password) => void (await run(`CREATE OR REPLACE USER app SET PASSWORD '${password}' CHANGE NOT REQUIRED`)),
    dropUser: async () => void (await run('DROP USER app IF EXISTS')),
    login: async (password) => server.query('app', password, 'SHOW CURRENT USER'),
    stop: async () => server.stop(),
  };
}

const [foundOpensearch, foundNeo4j] = [await findOpensearch(), await findNeo4j()];

describeSelfManaged('a double of OpenSearch', async () => opensearch(startOpensearchDouble));
describeWhere('missing' in foundOpensearch ? foundOpensearch.missing : undefined, 'OpenSearch', () => {
  describeSelfManaged('OpenSearch', async () => opensearch(startOpensearch));
});
describeWhere('missing' in foundNeo4j ? foundNeo4j.missing : undefined, 'Neo4j', () => describeSelfManaged('Neo4j', neo4j));
