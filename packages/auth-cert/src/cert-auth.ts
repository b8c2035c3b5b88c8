import { roleHolders } from '@strongroom/auth-sdk';
import { API_VERSION, pageOfHolders, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { ConfigStore, DEFAULT_CACHE_SIZE, type CertConfig } from './config.ts';
import { ListStore } from './crl/list-store.ts';
import { crlPaths } from './crl/path-crls.ts';
import { login, type LoginParts } from './login.ts';
import { ResponseCache } from './ocsp/response-cache.ts';
import { OutsideHttp } from './outside-http.ts';
import { certPaths } from './path-certs.ts';
import { configPath } from './path-config.ts';
import { configTestPath } from './path-config-test.ts';
import { loginPath } from './path-login.ts';
import { renew } from './renewal.ts';
import { roleRecords, RoleStore } from './role-store.ts';
import type { Certificate } from './x509/certificate.ts';

/** The login method `cert`: client certificates of TLS. */
export const certAuth: EnginePackage = {
  name: 'cert',
  kind: 'auth',
  apiVersion: API_VERSION,
  version: '0.1.0',
  // Two subjects that differ in case are two certificates of a CA.
  exactAliases: true,
  loginFlow: 'cert',
  create,
};

function create(host: EngineHost): Engine {
  const { storage, clock, log, mount } = host;
  const http = new OutsideHttp({ clock, circuit: (target) => host.circuit(target) });
  const configs = new ConfigStore(storage);
  const roles = new RoleStore(host);
  const authorities = async (): Promise<readonly Certificate[]> => (await roles.all()).flatMap(({ anchors }) => anchors);
  const lists = new ListStore({ storage, clock, log, mount, http, authorities });
  const cache = new ResponseCache(DEFAULT_CACHE_SIZE);
  const sized = ({ ocsp_cache_size: size }: CertConfig): void => cache.resize(size === 0 ? DEFAULT_CACHE_SIZE : size);
  const parts: LoginParts = {
    clock,
    log,
    mount,
    roles,
    configs,
    lists,
    authorities,
    ocsp: { http, clock, cache, randomBytes: (count) => host.randomBytes(count) },
  };
  return {
    paths: [
      configPath(configs, sized),
      configTestPath(parts),
      ...certPaths(roles, configs, host),
      ...crlPaths(lists, storage),
      loginPath((call) => login(call, parts)),
    ],
    schedules: [lists.job],
    stillGrants: async ({ role }, tx) => roleRecords(tx).has(String(role)),
    policyHolders: async (query) => pageOfHolders([roleHolders('certs', 'role', roleRecords(storage))], query),
    renewAuth: (auth) => renew(auth, parts),
    initialize: async () => sized(await configs.read()),
    invalidate: (key) => {
      // What cannot be read now leaves the size as it was until the next write or start.
      if (configs.invalidate(key)) configs.read().then(sized, () => {});
      roles.invalidate(key);
      lists.invalidate(key);
    },
    close: async () => http.close(),
  };
}
