import { API_VERSION, pageOfHolders, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { joinBindNeighbours } from '@strongroom/ldap-client';
import { followed } from '@strongroom/rotation';
import { ConfigStore } from './config-store.ts';
import { login } from './login.ts';
import { loginName } from './login-name.ts';
import { Mappings } from './mappings.ts';
import { configPaths } from './path-config.ts';
import { configTestPath } from './path-config-test.ts';
import { groupPaths } from './path-groups.ts';
import { loginPath } from './path-login.ts';
import { userPaths } from './path-users.ts';
import { policyHolders } from './policy-holders.ts';
import { RememberedNames } from './remembered-names.ts';
import { renew } from './renewal.ts';
import { rootRotation } from './root-rotation.ts';
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
  const mappings: Mappings = new Mappings(
    storage,
    () => configs.present.case_sensitive_names,
    (message, fields) => log.warn(message, { mount: host.mount.path, ...fields }),
  );
  // What cannot be read now leaves names folded as they were until the next change or start.
  const look = (work: Promise<void>): void =>
    void work.catch((error: unknown) => log.warn('the mappings could not be read', { mount: host.mount.path, error }));
  const root = rootRotation(host, async () => configs.read());
  const configs: ConfigStore = new ConfigStore(storage, {
    ...parts,
    root,
    changing: async (tx, before, after) => {
      if (before.case_sensitive_names !== after.case_sensitive_names) await mappings.ruleChanging(tx, after.case_sensitive_names);
    },
    changed: () => look(mappings.look()),
  });
  const leave = joinBindNeighbours(host.mount.path, async () => configs.read());
  const records = { mappings, names: new RememberedNames(storage) };
  const failures = (what: string): Trace =>
    new Trace(clock, ({ ok, fault, ...report }) => {
      if (!ok) log[fault ? 'warn' : 'info'](`${what} failed`, { mount: host.mount.path, ...report });
    });
  const logins = failures('a directory login');
  const renewals = failures('the renewal of a directory login');
  return {
    paths: [
      ...configPaths(host, configs, root),
      configTestPath(configs, records, parts),
      ...groupPaths(configs, mappings),
      ...userPaths(configs, mappings),
      loginPath(
        (call) => configs.use((setup) => login(setup, records, call, logins)),
        (username) => loginName(configs.present, username).folded,
      ),
    ],
    policyHolders: async (query) => pageOfHolders(await policyHolders(configs, mappings), query),
    renewAuth: (auth) => configs.use((setup) => renew(setup, records, auth, clock.millis(), renewals)),
    initialize: async () => {
      await configs.read();
      await mappings.initialize();
    },
    invalidate: (key) => {
      configs.invalidate(key);
      look(mappings.invalidated(key));
    },
    system: () => ({ noun: 'directory', name: '', path: 'config' }),
    schedules: [followed(root.rotation.job, () => configs.rotated())],
    close: async () => {
      leave();
      configs.close();
    },
  };
}
