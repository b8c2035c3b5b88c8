import { type AnyPath, type Clock, f, IssuedToken, path } from '@strongroom/engine-sdk';
import type { Clusters } from './clusters.ts';
import type { ConfigStore } from './config-store.ts';
import { checkLogin, grant, requireSent } from './login.ts';
import { findRole, foldRoleName } from './role.ts';
import type { Trace } from './trace.ts';

export function loginPath(configs: ConfigStore, clusters: Clusters, clock: Clock, trace: Trace): AnyPath {
  return path('login', {
    synopsis: 'Log in with the token of a service account.',
    description: 'Returns a token. The error does not reveal whether the role exists.',
    login: 'uncounted',
    role: ({ role }) => (typeof role === 'string' ? role : undefined),
    fields: {
      role: f.string('Name of the role.', { folds: foldRoleName }),
      jwt: f.secret('The token of the service account.'),
    },
  }).update({
    summary: 'Log in.',
    response: IssuedToken,
    handle: async (req) => {
      requireSent(req.data);
      const { role: roleName = '', jwt = '' } = req.data;
      const { remoteAddress } = req.caller;
      return clusters.use(await configs.required(), async (cluster) => {
        const role = await findRole(req.storage, roleName);
        const call = { roleName, role, jwt: jwt.trim(), remoteAddress, signal: req.signal };
        const done = await checkLogin(cluster, call, clock, trace);
        return { data: null, auth: grant(roleName, done.role, done.account, remoteAddress) };
      });
    },
  });
}
