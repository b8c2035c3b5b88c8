import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere } from '@strongroom/lab';
import { opensearchPlugin } from '../../src/index.ts';
import { sessionSuite } from './session-suite.ts';
import { KEPT_BACK, type StartedServer, TestedServer } from './tested-server.ts';

/** The contract, and what sessions do, on one server that `start` starts. Skipped, with the reason, where it is `missing`. */
export function wholeSuite(title: string, missing: string | undefined, start: () => Promise<StartedServer>): void {
  describeWhere(missing, title, () => {
    const tested = new TestedServer(start);
    beforeAll(() => tested.start(), 180_000);
    afterAll(() => tested.stop());

    databasePluginContract(
      { describe, test },
      {
        plugin: opensearchPlugin,
        config: () => tested.config(),
        login: async (username, password) => tested.ask([username, password], '/authinfo'),
        creation: ['{"backend_roles":["readall"],"attributes":{"of":"{{name}}"}}'],
        failing: ['{"role_definition":{"cluster_permissions":["cluster_composite_ops_ro"]},"opendistro_security_roles":["absent"]}'],
        slow: [`{"backend_roles":["${KEPT_BACK}"]}`],
        restart: () => tested.breakConnections(),
        skip: [
          {
            test: 'rollback runs after a half-made user',
            reason: 'statements are no calls: what a creation that fails has made is known, and removed',
          },
        ],
      },
    );
    sessionSuite(tested);
  });
}
