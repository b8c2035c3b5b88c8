import { neo4jPlugin } from '@strongroom/database-neo4j';
import { opensearchPlugin } from '@strongroom/database-opensearch';
import type { DatabasePlugin } from '@strongroom/database-sdk';
import {
  type Loss,
  type Neo4jServer,
  type OpensearchDouble,
  type OpensearchServer,
  startCallCutter,
  startFreezingProxy,
} from '@strongroom/lab';
import type { OutsideServer } from './crash-outside-suite.ts';

/** OpenSearch or its double, behind a cutter of HTTP calls. It stays when the cutter is stopped. */
export async function opensearchOutside(server: OpensearchDouble | OpensearchServer): Promise<OutsideServer> {
  const cutter = await startCallCutter(server.port);
  const call = async ([name, password]: readonly [string, string], path: string, method = 'GET', body?: unknown): Promise<object> => {
    const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    const response = await fetch(`http://${server.host}:${server.port}/_plugins/_security${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text) as object;
  };
  const manager = [server.superuser, server.password] as const;
  const set = async (name: string, user: object): Promise<void> => void (await call(manager, `/api/internalusers/${name}`, 'PUT', user));
  return {
    plugin: opensearchPlugin as unknown as DatabasePlugin,
    address: { url: cutter.url },
    cutter,
    creation: '{"role_definition":{"cluster_permissions":["cluster_composite_ops_ro"]}}',
    setManager: async (name, password) => set(name, { password, backend_roles: ['admin'] }),
    setUser: async (name, password) => set(name, { password }),
    made: async (prefix) =>
      Promise.all(
        ['internalusers', 'roles', 'rolesmapping'].map(async (kind) =>
          Object.keys(await call(manager, `/api/${kind}`)).filter((name) => name.startsWith(prefix)),
        ),
      ),
    login: async (name, password) => call([name, password], '/authinfo'),
    stop: async () => cutter.stop(),
  };
}

/** What the driver of Neo4j sends and nothing depends on: RESET and GOODBYE of the Bolt protocol. */
const IDLE = [Buffer.from('0002b00f0000', 'hex'), Buffer.from('0002b0020000', 'hex')];
/** How a connection begins, before the login. */
const HANDSHAKE = Buffer.from('6060b017', 'hex');

/** Whether it is a login or a statement. */
function isCall(data: Buffer): boolean {
  return !IDLE.some((message) => message.equals(data)) && !data.subarray(0, HANDSHAKE.length).equals(HANDSHAKE);
}

/** Neo4j behind a proxy that cuts at logins and statements. It stays when the proxy is closed. */
export async function neo4jOutside(server: Neo4jServer): Promise<OutsideServer> {
  const proxy = await startFreezingProxy(server);
  const run = async (statement: string): Promise<Record<string, unknown>[]> => server.query(server.superuser, server.password, statement);
  const set = async (name: string, password: string): Promise<void> =>
    void (await run(`CREATE OR REPLACE USER ${name} SET PASSWORD '${password}' CHANGE NOT REQUIRED`));
  const cutAt = (n: number, loss: Loss, lost: () => void): void => {
    let left = n;
    let isShut = false;
    proxy.intercept((data) => {
      if (isShut) return 'cut';
      if (!isCall(data) || left-- > 0) return data;
      isShut = true;
      lost();
      return loss === 'request' ? 'cut' : 'deafen';
    });
  };
  return {
    plugin: neo4jPlugin as unknown as DatabasePlugin,
    address: { connection_url: `bolt://${server.host}:${proxy.port}` },
    cutter: { cutAt, open: () => proxy.intercept(undefined) },
    creation: "CREATE USER `{{name}}` SET PASSWORD '{{password}}' CHANGE NOT REQUIRED",
    setManager: set,
    setUser: set,
    made: async (prefix) => [
      (await run('SHOW USERS YIELD user')).map(({ user }) => String(user)).filter((name) => name.startsWith(prefix)),
    ],
    login: async (name, password) => server.query(name, password, 'SHOW CURRENT USER'),
    stop: async () => proxy.close(),
  };
}
