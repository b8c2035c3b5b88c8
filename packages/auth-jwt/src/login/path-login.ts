import { type AnyPath, f, IssuedToken, path } from '@strongroom/engine-sdk';
import { login, type LoginParts } from './login.ts';

export function loginPath(parts: LoginParts): AnyPath {
  return path('login', {
    synopsis: 'Log in with a signed token.',
    description:
      'The server verifies the token with the keys of the issuer, checks the bounds of the role, and returns a token of its own.',
    login: 'uncounted',
    role: async ({ role }) => {
      if (typeof role === 'string' && role !== '') return role;
      return (await parts.configs.required().catch(() => undefined))?.config.default_role;
    },
    fields: {
      role: f.lowercase('Name of the role. Default: default_role of the configuration.', { default: '' }),
      jwt: f.secret('The signed token, in compact form.', { default: '' }),
    },
  }).update({
    summary: 'Log in.',
    response: IssuedToken,
    handle: async (req) =>
      login(parts, { role: req.data.role, jwt: req.data.jwt.trim(), remoteAddress: req.caller.remoteAddress, signal: req.signal }),
  });
}
