import { type AnyPath, type EngineHost, type EngineRequest, f, leased, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { DynamicUsers } from './dynamic-users.ts';
import { shorterThanAsked } from './lease-terms.ts';
import { recordsIn } from './records.ts';
import { requireRole, typeFor, type CredentialPath } from './roles.ts';
import type { TemporaryCredentials } from './temporary-credentials.ts';

export const sessionFields = {
  role_arn: f.string('The role to assume, one of the allowed ones; needed where several are. Only for assumed_role.'),
  role_session_name: f.string(
    'The name of the session, cut to 64 characters; made by username_template unless given. Only for assumed_role.',
  ),
  mfa_code: f.string('The code that the MFA device of the role shows now. Only for session_token, with mfa_serial_number.'),
  ttl: f.duration("How long the credential is good; the role's default_sts_ttl unless given, then 3600s. Not for iam_user."),
};

const Credential = leased(
  Type.Object({
    access_key: Type.String(),
    secret_key: Type.String({ secret: true }),
    security_token: Type.Union([Type.String(), Type.Null()], { secret: true }),
    session_token: Type.Optional(Type.String({ description: 'The same as security_token.', secret: true })),
    arn: Type.Optional(Type.String({ description: 'Of the session, for assumed_role.' })),
    ttl: Type.Optional(Type.Number({ description: 'Seconds until a temporary credential ends.' })),
    ready_at: Type.Optional(Type.String({ description: 'By then the provider should know the key of a new user; RFC 3339.' })),
  }),
);

export function credsPaths(host: EngineHost, users: DynamicUsers, temporary: TemporaryCredentials): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);

  const fields = {
    name: f.name('Name of the role.'),
    ...sessionFields,
    wait_for_propagation: f.bool(
      'Answer when the provider knows the key of a new user, which takes some seconds. Temporary credentials are good at once.',
      {
        default: false,
      },
    ),
  };
  type Fields = typeof fields;

  async function issued(which: CredentialPath, req: EngineRequest<Fields>) {
    const { name, wait_for_propagation: waits, ...wish } = req.data;
    const role = await requireRole(roles, name);
    const type = typeFor(role, which);
    const asked = req as EngineRequest;
    if (type === 'assumed_role') return temporary.create(asked, name, role, type, wish);
    const issued =
      type === 'iam_user' ? await users.create(asked, name, role, waits) : await temporary.create(asked, name, role, type, wish);
    const idle = (['role_arn', 'role_session_name'] as const).filter((field) => (wish[field] ?? '') !== '');
    const warnings = idle.map((field) => `${field} has no effect with ${type}: it is only for assumed_role`);
    if ((wish.mfa_code ?? '') !== '' && type !== 'session_token')
      warnings.push(`mfa_code has no effect with ${type}: it is only for session_token`);
    if (type === 'iam_user') {
      const { ttl } = host.limit(issued.secret.terms);
      warnings.push(...shorterThanAsked(Math.max(wish.ttl ?? 0, issued.secret.terms.ttl), ttl, 'config/lease or the maximum of the mount'));
    }
    return { ...issued, warnings: [...(issued.warnings ?? []), ...warnings] };
  }

  const declare = (pattern: 'creds/{name:at}' | 'sts/{name:at}', which: CredentialPath, description: string) =>
    path(pattern, { synopsis: 'Credentials of a role.', description, fields })
      .read({ summary: 'Issues a credential.', response: Credential, handle: async (req) => issued(which, req) })
      .update({ summary: 'Issues a credential.', response: Credential, handle: async (req) => issued(which, req) });

  return [
    declare(
      'creds/{name:at}',
      'creds',
      'Each call makes a credential. A user is removed when its lease ends; temporary credentials end by themselves, and cannot be revoked or renewed.',
    ),
    declare(
      'sts/{name:at}',
      'sts',
      'As creds. Of roles in the old form it makes temporary credentials alone, and creds makes users alone.',
    ),
  ];
}
