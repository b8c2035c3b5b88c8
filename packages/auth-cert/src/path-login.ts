import { f, path, type AnyPath, type EngineResponse } from '@strongroom/engine-sdk';
import type { LoginCall } from './login.ts';

export function loginPath(login: (call: LoginCall) => Promise<EngineResponse<never>>): AnyPath {
  return path('login', {
    synopsis: 'Log in with the client certificate of the connection.',
    description:
      'The certificate is the one of the TLS connection, or the one that a trusted proxy passes on. Without a name, the first role that fits counts, in the order ' +
      'of names. A refusal does not tell which roles exist.',
    login: 'uncounted',
    role: ({ name }) => (typeof name === 'string' ? name : undefined),
    fields: { name: f.string('Role to log in with.', { default: '', folds: (name: string) => name.toLowerCase() }) },
  }).update({
    summary: 'Log in.',
    handle: async (req) =>
      login({
        name: req.data.name,
        certificates: req.caller.certificates ?? [],
        remoteAddress: req.caller.remoteAddress,
        signal: req.signal,
      }),
  });
}
