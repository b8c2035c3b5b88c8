import { type AnyPath, f, IssuedToken, path } from '@strongroom/engine-sdk';
import { login, type LoginParts } from './login.ts';
import { usernameField } from './user-name.ts';

export function loginPath(parts: LoginParts): AnyPath {
  return path('login/{username}', {
    synopsis: 'Log in with a name and a password.',
    description: 'Returns a token. The error does not reveal whether the name or the password is wrong.',
    login: (data) => String(data['username']),
    fields: { username: usernameField, password: f.secret('Password of the user.', { default: '' }) },
  }).update({
    summary: 'Log in.',
    response: IssuedToken,
    handle: async (req) => login(parts, { ...req.data, remoteAddress: req.caller.remoteAddress, signal: req.signal }),
  });
}
