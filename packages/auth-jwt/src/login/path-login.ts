import { f, path, type AnyPath } from '@strongroom/engine-sdk';
import { login, type LoginParts } from './login.ts';

export function loginPath(parts: LoginParts): AnyPath {
  return path('login', {
    synopsis: 'Log in with a signed token.',
    description:
      'The token is verified by the keys of the issuer, and must meet the bounds of the role. Answers with a token of this server.',
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
    handle: async (req) =>
      login(parts, { role: req.data.role, jwt: req.data.jwt.trim(), remoteAddress: req.caller.remoteAddress, signal: req.signal }),
  });
}
