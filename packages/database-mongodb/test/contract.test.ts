import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere, type FerretdbServer, findFerretdb, startFerretdb, startStallingProxy, type StallingProxy } from '@strongroom/lab';
import { mongodbPlugin } from '../src/index.ts';
import { login } from './login.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const SLOW = 'kept_back';
const found = await findFerretdb();

describeWhere('missing' in found ? found.missing : undefined, 'MongoDB (FerretDB)', () => {
  let server: FerretdbServer;
  let proxy: StallingProxy;
  beforeAll(async () => {
    server = await startFerretdb();
    proxy = await startStallingProxy(server, SLOW);
  }, 60_000);
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  databasePluginContract(
    { describe, test },
    {
      plugin: mongodbPlugin,
      config: () => ({
        connection_url: `mongodb://{{username}}:{{password}}@127.0.0.1:${proxy.port}/admin`,
        username: server.superuser,
        password: server.password,
      }),
      login: (username, password) => login(server.port, username, password),
      creation: ['{ "db": "admin", "roles": [] }'],
      failing: ['{ "db": "admin", "roles": ["nonsense"] }'],
      slow: [`{ "db": "${SLOW}", "roles": [] }`],
      restart: () => server.restart(),
      skip: [
        {
          test: 'rollback runs after a half-made user',
          reason: 'createUser makes the whole user or nothing, so there is no half-made user to undo',
        },
      ],
    },
  );
});
