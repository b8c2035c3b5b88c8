import { API_VERSION, pageOfHolders, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { ConfigStore } from './config/config-store.ts';
import { configPath } from './config/path-config.ts';
import { IssuerHttp } from './keys/issuer-http.ts';
import type { LoginParts } from './login/login.ts';
import { configTestPath } from './login/path-config-test.ts';
import { loginPath } from './login/path-login.ts';
import { Replays } from './login/replays.ts';
import { renew } from './login/renewal.ts';
import { flowExpiry, Flows } from './oidc/flows.ts';
import { oidcPaths } from './oidc/oidc-paths.ts';
import { rolePaths } from './roles/path-roles.ts';
import { policyHolders } from './roles/policy-holders.ts';
import { rolesOf } from './roles/role.ts';

/** The login method `jwt`: signed tokens of programs. */
export const jwtAuth: EnginePackage = {
  name: 'jwt',
  kind: 'auth',
  apiVersion: API_VERSION,
  version: '0.1.0',
  exactAliases: true,
  create,
};

/** The same method under the name `oidc`: logins of people at an OpenID provider. */
export const oidcAuth: EnginePackage = { ...jwtAuth, name: 'oidc', loginFlow: 'oidc' };

function create(host: EngineHost): Engine {
  const { clock, log, storage } = host;
  const http = new IssuerHttp({ clock, circuit: (origin) => host.circuit(origin) });
  const configs = new ConfigStore({ storage, http, clock, log });
  const randomBytes = (count: number): Uint8Array => host.randomBytes(count);
  const template = { now: () => clock.now(), randomBytes };
  const replays = new Replays(clock);
  const parts: LoginParts = { storage, configs, clock, log, template, replays };
  const flows = new Flows({ storage, clock, randomBytes });
  return {
    paths: [
      configPath(configs, http),
      configTestPath(parts, http),
      ...rolePaths(storage),
      loginPath(parts),
      ...oidcPaths({ ...parts, http, flows, randomBytes }),
    ],
    schedules: [replays.job, flowExpiry],
    stillGrants: async ({ role }, tx) => rolesOf(tx).has(String(role)),
    policyHolders: async (query) => pageOfHolders([policyHolders(storage)], query),
    renewAuth: async (auth) => renew(storage, auth),
    initialize: async () => void (await configs.setup()),
    invalidate: (key) => configs.invalidate(key),
    close: async () => {
      configs.close();
      await http.close();
    },
  };
}
