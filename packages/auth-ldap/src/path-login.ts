import { f, path, type AnyPath, type EngineResponse } from '@strongroom/engine-sdk';

export interface LoginCall {
  readonly username: string;
  readonly password: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

export function loginPath(login: (call: LoginCall) => Promise<EngineResponse<Record<string, never>>>): AnyPath {
  return path('login/{username:all}', {
    synopsis: 'Log in with a name and a password of the directory.',
    description: 'Answers with a token. A refusal does not tell whether the name or the password is wrong.',
    login: (data) => String(data['username']),
    fields: {
      username: f.name('Name of the user.'),
      password: f.secret('Password of the user.', { default: '' }),
    },
  }).update({
    summary: 'Log in.',
    handle: async (req) => {
      const { username, password } = req.data;
      return login({
        username,
        password,
        remoteAddress: req.caller.remoteAddress,
        get signal() {
          return req.signal;
        },
      });
    },
  });
}
