import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere, findNeo4j } from '@strongroom/lab';
import { neo4jPlugin } from '../src/index.ts';
import { sessionSuite } from './suites/session-suite.ts';
import { KEPT_BACK, TestedServer } from './suites/tested-server.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const found = await findNeo4j();

// All in one file, because a server takes its time and memory.
describeWhere('missing' in found ? found.missing : undefined, 'Neo4j', () => {
  const tested = new TestedServer();
  beforeAll(() => tested.start(), 150_000);
  afterAll(() => tested.stop());

  databasePluginContract(
    { describe, test },
    {
      plugin: neo4jPlugin,
      config: () => tested.config({ connection_url: `bolt://127.0.0.1:${tested.proxy.port}` }),
      login: (username, password) => tested.login(username, password),
      creation: [`CREATE USER \`{{name}}\` SET PASSWORD '{{password}}' CHANGE NOT REQUIRED`],
      slow: [`CREATE USER {{name}} SET PASSWORD {{password}} CHANGE NOT REQUIRED // ${KEPT_BACK}`],
      restart: () => tested.breakConnections(),
    },
  );
  sessionSuite(tested);
});
