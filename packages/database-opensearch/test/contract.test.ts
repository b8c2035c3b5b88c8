import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere, startStallingProxy, type StallingProxy } from '@strongroom/lab';
import { opensearchPlugin } from '../src/index.ts';
import { ask, servers, type OpensearchUnderTest } from './servers.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const SLOW = 'kept-back';

for (const [title, missing, start] of servers) {
  describeWhere(missing, title, () => {
    let server: OpensearchUnderTest;
    let proxy: StallingProxy;
    beforeAll(async () => {
      server = await start();
      proxy = await startStallingProxy(server, SLOW);
    });
    afterAll(async () => {
      await proxy?.close();
      await server?.stop();
    });

    databasePluginContract(
      { describe, test },
      {
        plugin: opensearchPlugin,
        config: () => ({ url: `http://127.0.0.1:${proxy.port}`, username: server.superuser, password: server.password }),
        login: async (username, password) => ask(server, [username, password], '/authinfo'),
        creation: ['{"backend_roles":["readall"],"attributes":{"of":"{{name}}"}}'],
        failing: ['{"role_definition":{"cluster_permissions":["cluster_composite_ops_ro"]},"opendistro_security_roles":["absent"]}'],
        slow: [`{"backend_roles":["${SLOW}"]}`],
        restart: async () => server.restart!(),
        skip: [
          {
            test: 'rollback runs after a half-made user',
            reason: 'statements are no calls: what a creation that fails has made is known, and removed',
          },
          ...(title === 'OpenSearch'
            ? [
                {
                  test: 'after the server drops, the next call reconnects or fails with ConnectionLost',
                  reason: 'the server is not ours',
                } as const,
              ]
            : []),
        ],
      },
    );
  });
}
