import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { BrokerService } from './broker-service.ts';
import { DynamicUsers } from './dynamic-users.ts';
import { OrphanedUsers } from './orphans.ts';
import { outsideUsers } from './outside-users.ts';
import { brokerFailingPath } from './path-failing.ts';
import { configTestPath } from './path-config-test.ts';
import { connectionPath } from './path-connection.ts';
import { leasePath } from './path-lease.ts';
import { orphanPath } from './path-orphans.ts';
import { rolePaths } from './path-roles.ts';
import { rotateRootPath } from './path-rotate-root.ts';
import { staticRolePaths } from './path-static-roles.ts';
import { statusPath } from './path-status.ts';
import { RootRotation } from './root-rotation.ts';
import { StaticUsers } from './static-users.ts';
import { UserMark } from './user-mark.ts';
import { joinUserNeighbours } from './user-neighbours.ts';

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
  const root = new RootRotation(host, service);
  const statics = new StaticUsers(host, service);
  const dynamics = new DynamicUsers(host, service, mark);
  const orphans = new OrphanedUsers(host, service, dynamics, mark);
  const leave = joinUserNeighbours(host.mount.path, async () => service.read());
  return {
    paths: [
      connectionPath(host, service, dynamics, root),
      configTestPath(host, service, dynamics),
      statusPath(service, root),
      leasePath(host),
      rotateRootPath(root),
      ...rolePaths(host, service, dynamics),
      ...staticRolePaths(host, statics),
      brokerFailingPath(host, service, root, statics),
      orphanPath(orphans),
    ],
    secrets: [dynamics.secret],
    intents: [dynamics.intent, orphans.intent],
    schedules: [root.rotation.job, statics.rotation.job],
    initialize: async () => mark.load(),
    system: () => ({ noun: 'broker', name: '', path: 'config/connection' }),
    outside: async () => outsideUsers(host, { root, statics, dynamics }),
    pools: () => service.pools(),
    close: async () => {
      leave();
      service.close();
    },
  };
}
