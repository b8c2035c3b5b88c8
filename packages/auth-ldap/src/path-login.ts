import { type AnyPath, type EngineRequest, type EngineResponse, f, IssuedToken, path } from '@strongroom/engine-sdk';

export interface LoginCall {
  readonly username: string;
  readonly password: string;
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
  /** Absent where nothing is counted. */
  readonly countAs: EngineRequest['countAs'] | undefined;
}

/** `counted`: the name under which the lockout counts a name as it was typed. */
export function loginPath(
  login: (call: LoginCall) => Promise<EngineResponse<Record<string, never>>>,
  counted: (username: string) => string,
): AnyPath {
  return path('login/{username:all}', {
    synopsis: 'Log in with a name and a password of the directory.',
    description: 'Answers with a token. A refusal does not tell whether the name or the password is wrong.',
    login: (data) => counted(String(data['username'])),
    fields: {
      username: f.name('Name of the user.'),
      password: f.secret('Password of the user.', { default: '' }),
    },
  }).update({
    summary: 'Log in.',
    response: IssuedToken,
    handle: async (req) => {
      const { username, password } = req.data;
      return login({
        username,
        password,
        remoteAddress: req.caller.remoteAddress,
        countAs: req.countAs,
        get signal() {
          return req.signal;
        },
      });
    },
  });
}
