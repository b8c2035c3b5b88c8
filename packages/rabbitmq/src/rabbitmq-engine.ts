import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { BrokerService } from './broker-service.ts';
import { DynamicUsers } from './dynamic-users.ts';
import { connectionPath } from './path-connection.ts';
import { leasePath } from './path-lease.ts';
import { rolePaths } from './path-roles.ts';
import { UserMark } from './user-mark.ts';

/** Users of RabbitMQ: those made for a lease, and those whose password is rotated. */
export const rabbitmqEngine: EnginePackage = {
  name: 'rabbitmq',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  create,
};

function create(host: EngineHost): Engine {
  const service = new BrokerService(host);
  const mark = new UserMark(host);
  const users = new DynamicUsers(host, service, mark);
  return {
    paths: [connectionPath(service, users), leasePath(host), ...rolePaths(host, service, users)],
    secrets: [users.secret],
    intents: [users.intent],
    initialize: async () => mark.load(),
    system: () => ({ noun: 'broker', name: '', path: 'config/connection' }),
    outside: async () => users.outside(),
    pools: () => service.pools(),
    close: async () => service.close(),
  };
}
