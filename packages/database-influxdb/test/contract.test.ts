import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import { databasePluginContract } from '@strongroom/database-testkit';
import {
  describeWhere,
  influxdbMissing,
  type InfluxdbServer,
  startInfluxdb,
  startStallingProxy,
  type StallingProxy,
} from '@strongroom/lab';
import { influxdbPlugin } from '../src/index.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const SLOW = 'kept_back';

describeWhere(influxdbMissing, 'InfluxDB', () => {
  let server: InfluxdbServer;
  let proxy: StallingProxy;
  beforeAll(async () => {
    server = await startInfluxdb();
    await server.query(server.superuser, server.password, 'CREATE DATABASE app');
    proxy = await startStallingProxy(server, SLOW);
  }, 30_000);
  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  databasePluginContract(
    { describe, test },
    {
      plugin: influxdbPlugin,
      config: () => ({ host: '127.0.0.1', port: proxy.port, username: server.superuser, password: server.password }),
      login: (username, password) => server.query(username, password, 'SHOW DATABASES'),
      creation: [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}'; GRANT READ ON "app" TO "{{name}}"`],
      slow: [`CREATE USER "{{name}}" WITH PASSWORD '{{password}}'; GRANT READ ON "${SLOW}" TO "{{name}}"`],
      restart: () => server.restart(),
    },
  );
});
