import { roleHolders } from '@strongroom/auth-sdk';
import { API_VERSION, pageOfHolders, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { Digests } from './digests.ts';
import { configTestPath } from './path-config-test.ts';
import { loginPath } from './path-login.ts';
import { roleFieldPaths } from './path-role-fields.ts';
import { rolePaths } from './path-roles.ts';
import { secretIdPaths } from './path-secret-ids.ts';
import { tidyPath } from './path-tidy.ts';
import { renew } from './renewal.ts';
import { Roles } from './roles.ts';
import { Tidying } from './schedules.ts';
import { SecretIdMaker } from './secret-id-maker.ts';
import { SecretIds } from './secret-ids.ts';

/** The login method `approle`: programs log in with the id of a role and a secret id. */
export const approleAuth: EnginePackage = {
  name: 'approle',
  kind: 'auth',
  apiVersion: API_VERSION,
  version: '0.1.0',
  exactAliases: true,
  create,
};

function create(host: EngineHost): Engine {
  const { clock, log, mount, storage } = host;
  const digests = new Digests();
  const secretIds = new SecretIds(digests, clock);
  const roles = new Roles(host, digests);
  const tidying = new Tidying({ secretIds, clock, log, mount });
  const maker = new SecretIdMaker(host, { roles, secretIds, tidying });
  const parts = { storage, roles, secretIds };
  return {
    paths: [
      ...rolePaths(host, roles),
      ...roleFieldPaths(storage, roles),
      ...secretIdPaths(host, { roles, secretIds, maker }),
      tidyPath(storage, tidying),
      loginPath(parts),
      configTestPath(parts, clock),
    ],
    schedules: tidying.schedules,
    stillGrants: async ({ role, key }, tx) => roles.isSame(tx, String(role), { key: String(key) }),
    policyHolders: async (query) => pageOfHolders([roleHolders('role', 'role', roles.records(storage))], query),
    renewAuth: async (auth) => renew(storage, roles, auth),
    initialize: async () => digests.open(storage, (count) => host.randomBytes(count)),
    close: async () => digests.close(),
  };
}
