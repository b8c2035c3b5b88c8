import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { rabbitmqMissing, startRabbitmq, type RabbitmqServer } from '@strongroom/lab';
import { rabbitmqEngine } from '../src/index.ts';
import { connectionTo, EVERYTHING } from './rabbitmq-mount.ts';

let server: RabbitmqServer | undefined;
beforeAll(async () => {
  if (rabbitmqMissing === undefined) server = await startRabbitmq();
}, 60_000);
afterAll(async () => server?.stop());

engineContract(
  { describe, test },
  {
    engine: rabbitmqEngine,
    prepare: async (mount) => {
      const nowhere = { connection_uri: 'http://127.0.0.1:1', username: 'root', password: 'root', verify_connection: false };
      await server?.api('PUT', 'users/manager', { password: 'manager', tags: 'administrator' });
      await mount.write('config/connection', server ? connectionTo(server, { username: 'manager', password: 'manager' }) : nowhere);
      await mount.write('config/lease', { ttl: '1h' });
      await mount.write('roles/app', { tags: 'monitoring', vhosts: EVERYTHING });
      if (server) {
        await server.api('PUT', 'users/static', { password: 'first', tags: '' });
        await mount.write('static-roles/app', { username: 'static', rotation_period: '24h', adopt: true });
        await mount.read('creds/app');
      }
      return { name: ['app'] };
    },
    leavesOutside:
      server === undefined && rabbitmqMissing !== undefined
        ? []
        : [
            { kind: 'RabbitMQ user', name: /^root-|^token-/ },
            { kind: 'RabbitMQ user', name: /^static$|^manager$/ },
          ],
    outside: ['config/connection', 'creds/{name}', 'static-roles/{name}', 'rotate-role/{name}', 'rotate-root', 'orphans'],
    readsWithEffect: ['creds/{name}', 'config/status'],
  },
);
