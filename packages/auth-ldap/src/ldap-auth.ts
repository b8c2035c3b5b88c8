import { API_VERSION, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { ConfigStore } from './config-store.ts';
import { login } from './login.ts';
import { Mappings } from './mappings.ts';
import { configPath } from './path-config.ts';
import { configTestPath } from './path-config-test.ts';
import { groupPaths } from './path-groups.ts';
import { loginPath } from './path-login.ts';
import { userPaths } from './path-users.ts';
import { renew } from './renewal.ts';
import type { SetupParts } from './setup.ts';
import { Trace } from './trace.ts';

/** The login method `ldap`: names and passwords of a directory, policies by its groups. */
export const ldapAuth: EnginePackage = {
  name: 'ldap',
  kind: 'auth',
  apiVersion: API_VERSION,
  version: '0.1.0',
  create,
};

function create(host: EngineHost): Engine {
  const { clock, log, storage } = host;
  const parts: SetupParts = { clock, log, template: { now: () => clock.now(), randomBytes: (count) => host.randomBytes(count) } };
  const configs = new ConfigStore(storage, parts);
  const mappings = new Mappings(storage);
  const failures = (what: string): Trace =>
    new Trace(clock, ({ ok, fault, ...report }) => {
      if (!ok) log[fault ? 'warn' : 'info'](`${what} failed`, { mount: host.mount.path, ...report });
    });
  const logins = failures('a directory login');
  const renewals = failures('the renewal of a directory login');
  return {
    paths: [
      configPath(configs),
      configTestPath(configs, mappings, parts),
      ...groupPaths(configs, mappings),
      ...userPaths(configs, mappings),
      loginPath((call) => configs.use((setup) => login(setup, mappings, call, logins))),
    ],
    renewAuth: (auth) => configs.use((setup) => renew(setup, mappings, auth, clock.millis(), renewals)),
    invalidate: (key) => configs.invalidate(key),
    close: async () => configs.close(),
  };
}
