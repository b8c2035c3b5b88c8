import { type AnyPath, f, IssuedToken, path } from '@strongroom/engine-sdk';
import { login, type LoginParts } from './login.ts';

export function loginPath(parts: LoginParts): AnyPath {
  return path('login', {
    synopsis: 'Log in with a role id and a secret id.',
    description: 'Returns a token. The error does not reveal which of the two ids is wrong.',
    // Whoever knows a role id must not be able to lock its programs out from elsewhere.
    login: (data, { remoteAddress }) => ({ name: roleIdOf(data), from: remoteAddress }),
    role: async (data) => (await parts.roles.byRoleId(roleIdOf(data)))?.name,
    fields: {
      role_id: f.string('The id of the role.', { default: '' }),
      secret_id: f.secret('A secret id of the role.', { default: '' }),
    },
  }).update({
    summary: 'Log in.',
    response: IssuedToken,
    handle: async ({ data, caller: { remoteAddress } }) => ({
      auth: await login(parts, { roleId: roleIdOf(data), secretId: data.secret_id.trim(), remoteAddress }),
    }),
  });
}

/** Without the spaces around it; '' for what is no id. */
function roleIdOf({ role_id: id }: Readonly<Record<string, unknown>>): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id).trim() : '';
}
