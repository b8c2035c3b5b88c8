import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { databasePluginContract } from '@strongroom/database-testkit';
import { describeWhere, findValkey, type RedisServer, startRedis, startStallingProxy, type StallingProxy } from '@strongroom/lab';
import { valkeyPlugin } from '../src/index.ts';
import { login } from './login.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const SLOW = 'kept-back';
const valkey = await findValkey();

describeWhere('missing' in valkey ? valkey.missing : undefined, 'Valkey', () => {
  let server: RedisServer;
  let proxy: StallingProxy;
  beforeAll(async () => {
    server = await startRedis({ program: join('folder' in valkey ? valkey.folder : '', 'run'), words: ['/usr/bin/valkey-server'] });
    proxy = await startStallingProxy(server, SLOW);
  }, 30_000);
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  const options = {
    login: (username: string, password: string) => login(server.port, username, password),
    creation: ['["~{{name}}:*", "+@read"]'],
    failing: ['["~*", "+@read", "+@nonsense"]'],
    slow: [`["~${SLOW}", "+@read"]`],
    restart: () => server.restart(),
    skip: [
      {
        test: 'rollback runs after a half-made user',
        reason: 'ACL SETUSER makes the whole user or nothing, so there is no half-made user to undo',
      },
    ] as const,
  };

  databasePluginContract(
    { describe, test },
    {
      ...options,
      plugin: valkeyPlugin,
      creation: ['["~*", "+@read"]'],
      config: () => ({
        connection_url: `valkey://{{username}}:{{password}}@127.0.0.1:${proxy.port}`,
        username: 'default',
        password: server.password,
      }),
    },
  );
});
