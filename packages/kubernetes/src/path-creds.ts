import { BadRequest, f, leased, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { pathOf } from './manifests.ts';
import { recordsIn, type RoleRecord } from './records.ts';
import type { ServiceAccounts } from './service-accounts.ts';

const fields = {
  name: f.name('Name of the role.'),
  kubernetes_namespace: f.string('Namespace of the service account. May be left out if the role allows a single one.', { default: '' }),
  cluster_role_binding: f.bool('Bind in the whole cluster instead of the namespace. Needs a ClusterRole.', { default: false }),
  ttl: f.duration("How long the credential is valid. Default: the role's token_default_ttl.", { default: 0 }),
  audiences: f.commaStrings("Audiences of the token. Default: the role's token_default_audiences.", { default: [] }),
} as const;

export function credsPaths(host: EngineHost, accounts: ServiceAccounts): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);
  const required = async (name: string): Promise<RoleRecord> => {
    const role = await roles.get(name);
    if (!role) throw new BadRequest(`role '${name}' does not exist`);
    return role;
  };

  const creds = path('creds/{name}', {
    synopsis: 'Tokens of service accounts.',
    description:
      'Each write creates a token, with an account, a role and a binding where the role asks for them. They are removed when the lease ends. A token of an ' +
      'existing account cannot be revoked, and ends by itself.',
    fields,
  }).update({
    summary: 'Creates a credential.',
    response: leased(
      Type.Object({
        service_account_name: Type.String(),
        service_account_namespace: Type.String(),
        service_account_token: Type.String({ secret: true }),
      }),
    ),
    handle: async (req) => {
      const { name, ...wish } = req.data;
      return accounts.create(req, name, await required(name), wish);
    },
  });

  const preview = path('roles/{name}/preview', {
    synopsis: 'What creds would do.',
    description:
      'Shows the calls that create a credential. Nothing is sent to the API server or stored; whether the namespace exists is not checked.',
    fields,
  }).update({
    summary: 'Shows the calls that create a credential.',
    response: Type.Object({
      service_account_name: Type.String({ description: 'Made as a real one is; the next one is another.' }),
      service_account_namespace: Type.String(),
      lease_duration: Type.Number({ description: 'Seconds.' }),
      calls: Type.Array(Type.Object({ method: Type.String(), path: Type.String(), body: Type.Record(Type.String(), Type.Unknown()) }), {
        description: 'In order, as they would be sent.',
      }),
    }),
    handle: async (req) => {
      const { name, ...wish } = req.data;
      const plan = await accounts.plan(req.caller.displayName, name, await required(name), wish);
      const { namespace, account, audiences, tokenSeconds } = plan;
      const spec = { expirationSeconds: tokenSeconds, ...(audiences.length === 0 ? {} : { audiences }) };
      const token = {
        method: 'POST',
        path: `${pathOf({ kind: 'ServiceAccount', namespace })}/${account}/token`,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
      };
      const created = plan.manifests.map(({ ref, body }) => ({ method: 'POST', path: pathOf(ref), body: { ...body } }));
      return {
        data: {
          service_account_name: account,
          service_account_namespace: namespace,
          lease_duration: plan.seconds,
          calls: [...created, token],
        },
        ...(plan.warnings.length > 0 ? { warnings: plan.warnings } : {}),
      };
    },
  });
  return [creds, preview];
}
