import { type AnyPath, type EngineResponse, f, IssuedToken, path } from '@strongroom/engine-sdk';
import type { LoginCall } from './login.ts';

export function loginPath(login: (call: LoginCall) => Promise<EngineResponse<never>>): AnyPath {
  return path('login', {
    synopsis: 'Log in with the client certificate of the connection.',
    description: 'The certificate comes from the TLS connection, or from a trusted proxy. The error does not reveal which roles exist.',
    login: 'uncounted',
    role: ({ name }) => (typeof name === 'string' ? name : undefined),
    fields: {
      name: f.string('Name of the role. Default: the first role, in order of names, that accepts the certificate.', {
        default: '',
        folds: (name: string) => name.toLowerCase(),
      }),
    },
  }).update({
    summary: 'Log in.',
    response: IssuedToken,
    handle: async (req) =>
      login({
        name: req.data.name,
        certificates: req.caller.certificates ?? [],
        remoteAddress: req.caller.remoteAddress,
        signal: req.signal,
      }),
  });
}
