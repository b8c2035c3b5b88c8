import { userInfo } from 'node:os';
import type { Environment } from '../environment.ts';
import { setting } from '../environment.ts';
import { textOf, type LoginMethod } from './login-method.ts';

function localUser(env: Environment): string {
  return env['LOGNAME'] || env['USER'] || userInfo().username;
}

/** Methods that take a name in the path and a password in the body. */
export function passwordMethod(title: string, variable: string | undefined): LoginMethod {
  const source = variable === undefined ? '' : `, or set STRONGROOM_${variable}`;
  return {
    fields: ['username', 'password'],
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
      `      Password. Without it, the command prompts${source}.`,
    ].join('\n'),
    async login({ mount, data, client, io, ask }) {
      const { username: _, password: __, ...others } = data;
      const name = textOf(data, 'username') ?? localUser(io.env);
      const given = typeof data['password'] === 'string' ? data['password'] : undefined;
      const known = given ?? (variable === undefined ? undefined : setting(io.env, variable));
      const missing = `The password is missing: give password=<string> or password=- for standard input${source}`;
      const password = known ?? (await ask('Password (will be hidden): ', missing));
      return client.write(`auth/${mount}/login/${name}`, { ...others, password });
    },
  };
}
