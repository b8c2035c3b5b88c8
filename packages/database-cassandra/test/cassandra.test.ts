import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere, findCassandra } from '@strongroom/lab';
import { cassandraPlugin } from '../src/index.ts';
import { parameterSuite } from './suites/parameter-suite.ts';
import { sessionSuite } from './suites/session-suite.ts';
import { SLOW, TestedServer } from './suites/tested-server.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const found = await findCassandra();

// All in one file, because a server takes its time and memory.
describeWhere('missing' in found ? found.missing : undefined, 'Cassandra', () => {
  const tested = new TestedServer();
  beforeAll(() => tested.start(), 120_000);
  afterAll(() => tested.stop());

  databasePluginContract(
    { describe, test },
    {
      plugin: cassandraPlugin,
      config: () => tested.config({ port: tested.proxy.port }),
      login: (username, password) => tested.login(username, password),
      creation: [`CREATE USER '{{name}}' WITH PASSWORD '{{password}}' NOSUPERUSER; GRANT SELECT ON ALL KEYSPACES TO '{{name}}'`],
      slow: [`CREATE USER '{{name}}' WITH PASSWORD '{{password}}'; GRANT SELECT ON KEYSPACE ${SLOW} TO '{{name}}'`],
      restart: () => tested.server.restart(),
    },
  );
  sessionSuite(tested);
  parameterSuite(tested);
});
