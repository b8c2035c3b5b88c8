import type { PostgresServer } from '@strongroom/lab';
import { newName, SharedObjects, type Scenario } from './scenario.ts';

/** Database credentials that are asked for again and again with one idempotency key, through any node: there is one lease. */
export function idempotencyKeys(postgres: PostgresServer): Scenario {
  const shared = new SharedObjects({ count: 2, uses: 4, make: async () => newName('idempotency-key') });
  return {
    name: 'idempotency keys',
    prepare: async (node, token) => {
      await node.must({ method: 'POST', path: 'sys/mounts/database', token, body: { type: 'database' } });
      const connection = {
        plugin_name: 'postgresql-database-plugin',
        allowed_roles: '*',
        connection_url: `postgresql://{{username}}:{{password}}@127.0.0.1:${postgres.port}/postgres?sslmode=disable`,
        username: postgres.superuser,
        password: postgres.password,
      };
      await node.must({ method: 'POST', path: 'database/config/pg', token, body: connection });
      const creation_statements = `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}';`;
      await node.must({
        method: 'POST',
        path: 'database/roles/app',
        token,
        body: { db_name: 'pg', creation_statements, default_ttl: '1h' },
      });
    },
    step: async (step) => {
      const { client, node, history, rootToken: token } = step;
      const key = (await shared.take(step))!;
      await history.record({ model: 'repeat', key, client }, { op: 'issue' }, async () =>
        node.outcome({ method: 'GET', path: 'database/creds/app', token, headers: { 'Idempotency-Key': key } }, ({ status, body }) =>
          status === 200 ? { ok: true, value: body['lease_id'] as string } : { ok: false },
        ),
      );
    },
  };
}
