import { userInfo } from 'node:os';
import type { Environment } from '../environment.ts';
import { setting } from '../environment.ts';
import { Failure } from '../failure.ts';

/** What a method turns the user's words into: where to send which body. */
export interface LoginRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface LoginMethod {
  /** What `auth help` prints. */
  readonly help: string;
  prepare(
    mount: string,
    data: Readonly<Record<string, unknown>>,
    env: Environment,
    ask: (question: string, missing: string) => Promise<string>,
  ): Promise<LoginRequest>;
}

function localUser(env: Environment): string {
  return env['LOGNAME'] || env['USER'] || userInfo().username;
}

/** Methods that take a name in the path and a password in the body. */
function passwordMethod(title: string, variable: string | undefined): LoginMethod {
  const source = variable === undefined ? '' : `, or set STRONGROOM_${variable}`;
  return {
    help: [
      `Usage: strongroom login -method=${title} [CONFIG K=V...]`,
      '',
      `  Logs in with a name and a password of the "${title}" method.`,
      '',
      `      $ strongroom login -method=${title} username=alice`,
      '      Password (will be hidden):',
      '',
      'Configuration:',
      '',
      '  username=<string>',
      '      Name to log in as. Default: the local user.',
      '',
      '  password=<string>',
      `      Password. Asked for when absent${source}.`,
    ].join('\n'),
    async prepare(mount, data, env, ask) {
      const { username, password, ...others } = data;
      const name = typeof username === 'string' && username !== '' ? username : localUser(env);
      const known = typeof password === 'string' ? password : variable === undefined ? undefined : setting(env, variable);
      const secret =
        known ??
        (await ask(
          'Password (will be hidden): ',
          `The password is missing: give password=<string> or password=- for standard input${source}`,
        ));
      return { path: `auth/${mount}/login/${name}`, body: { ...others, password: secret } };
    },
  };
}

/** Any other method: its own fields go to `login` as they are. */
function plainMethod(title: string): LoginMethod {
  return {
    help: [
      `Usage: strongroom login -method=${title} [K=V...]`,
      '',
      `  Sends the fields given to the login path of the "${title}" method.`,
      `  "strongroom path-help auth/${title}/login" lists them.`,
    ].join('\n'),
    async prepare(mount, data) {
      if (Object.keys(data).length === 0 && title !== 'cert') {
        throw new Failure(
          `The fields of the login are missing: give them as key=value; "strongroom path-help auth/${mount}/login" lists them`,
        );
      }
      return { path: `auth/${mount}/login`, body: data };
    },
  };
}

const TOKEN_HELP = [
  'Usage: strongroom login [TOKEN]',
  '',
  '  Checks a token and remembers it. Without TOKEN it is asked for; "-" reads it from standard input.',
].join('\n');

const PASSWORD_METHODS: Readonly<Record<string, LoginMethod>> = {
  userpass: passwordMethod('userpass', undefined),
  ldap: passwordMethod('ldap', 'LDAP_PASSWORD'),
  radius: passwordMethod('radius', undefined),
  okta: passwordMethod('okta', undefined),
};

/** How to log in with a method of this type. */
export function loginMethod(type: string): LoginMethod {
  return Object.hasOwn(PASSWORD_METHODS, type) ? (PASSWORD_METHODS[type] ?? plainMethod(type)) : plainMethod(type);
}

/** The page that `auth help` prints for a type of method. */
export function loginHelp(type: string): string {
  return type === 'token' ? TOKEN_HELP : loginMethod(type).help;
}
