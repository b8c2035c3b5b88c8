import type { ApiClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { settingSource } from '../environment.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { readAll } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { parsePairs } from '../kv-pairs.ts';
import type { Secret } from '../secret.ts';
import { secretFrom } from '../secret.ts';
import { storeToken } from '../token-store.ts';
import { checkFields, explainRefusal, LOGIN_TYPES, loginMethod } from '../login/login-methods.ts';
import { completeLogin, mfaRequirementOf } from '../login/second-factor.ts';
import { unwrapToken } from './unwrap.ts';

async function askedToken(words: readonly string[], { io, ask }: Pick<Invocation, 'io' | 'ask'>): Promise<string> {
  const [word] = words;
  if (words.length > 1) throw new Failure('Too many arguments: the token method takes one token');
  if (word === '-') return (await readAll(io.stdin)).trim();
  if (word?.startsWith('token=') === true) {
    const { token } = await parsePairs([word], io.stdin);
    return String(token).trim();
  }
  return word ?? ask('Token (will be hidden): ', 'The token is missing: give it as an argument, or "-" to read it from standard input');
}

/** A login envelope made of what the server says about a token, so that one table fits every method. */
async function describeToken(client: ApiClient, token: string): Promise<Secret> {
  const found = await client.withToken(token).secret('GET', 'auth/token/lookup-self', { unwrapped: true });
  const data = found?.data;
  if (found === undefined || data === undefined) throw new Failure('The server returned no information about the token', EXIT.remote);
  const auth = {
    client_token: data['id'],
    accessor: data['accessor'],
    policies: data['policies'],
    token_policies: data['policies'],
    identity_policies: data['identity_policies'] ?? null,
    metadata: data['meta'],
    lease_duration: data['ttl'],
    renewable: data['renewable'] ?? false,
  };
  const envelope = { ...found.envelope, data: null, auth };
  return secretFrom(envelope, JSON.stringify(envelope));
}

export default defineCommand({
  name: 'login',
  synopsis: 'Authenticate and remember the token',
  description:
    'Logs in and stores the token for the commands that follow. The default method takes a token; others take key=value words, see "strongroom auth help TYPE". If the login requires a second factor, the command prompts for the code.',
  args: ['[TOKEN | K=V...]'],
  flags: {
    method: flag.text('Type of the auth method: token, userpass, ldap, oidc, approle, … Default: token.', {
      placeholder: 'type',
      suggestions: LOGIN_TYPES,
    }),
    path: flag.text('Where the method is mounted. Default: its type.', { placeholder: 'path' }),
    'no-store': flag.boolean('Do not store the token.'),
    'no-print': flag.boolean('Do not print the token.'),
    'token-only': flag.boolean('Print the token and nothing else. Implies -no-store.'),
  },
  examples: [
    { text: 'Log in with a token, and let the command prompt for it:', command: 'login' },
    { text: 'Log in at a directory:', command: 'login -method=ldap -path=corp username=alice' },
    { text: 'Log in with a browser:', command: 'login -method=oidc role=web' },
    { text: 'Only a token, for a script:', command: 'login -method=userpass -token-only username=ci password=-' },
  ],
  async run({ args, flags, options, io, out, client, ask, sleep }) {
    const api = client();
    const store = !flags['no-store'] && !flags['token-only'];
    const type = flags.method ?? 'token';
    let secret: Secret | undefined;
    if (type === 'token') {
      const token = await askedToken(args, { io, ask });
      if (token === '') throw new Failure('The token is empty');
      secret = await doing('Error authenticating', describeToken(api, token));
    } else {
      const mount = (flags.path ?? type).replace(/^\/+|\/+$/g, '').replace(/^auth\//, '');
      const data = await parsePairs(args, io.stdin);
      checkFields(type, data);
      try {
        secret = await doing(
          'Error authenticating',
          loginMethod(type).login({ mount, data, client: api.withToken(undefined), io, ask, sleep }),
        );
      } catch (error) {
        explainRefusal(type, mount, error);
        throw error;
      }
      const requirement = mfaRequirementOf(secret);
      if (requirement) {
        const warn = (line: string): void => out.warn(line);
        secret = await completeLogin(requirement, { client: api.withToken(undefined), ask, warn });
      }
    }
    if (secret?.wrap_info !== undefined && store) {
      secret = await doing('Error unwrapping the login', unwrapToken(api.withToken(undefined), secret.wrap_info.token));
    }
    const token = secret?.auth?.client_token ?? secret?.wrap_info?.token;
    if (secret === undefined || token === undefined || token === '')
      throw new Failure('The server accepted the login but returned no token', EXIT.remote);
    const wrapped = secret.wrap_info !== undefined;
    if (store) await doing('Error storing token', storeToken(io.env, token));
    if (flags['token-only']) return out.rawField(token);
    if (flags['no-print']) return;
    if (out.field !== undefined) return out.secret(secret);
    if (out.plain && !wrapped) {
      const variable = settingSource(io.env, 'TOKEN')?.variable;
      if (store && variable !== undefined) {
        out.warn(
          `WARNING! The environment variable ${variable} is set, and takes precedence over the stored token: unset it to use this login.\n`,
        );
      }
      out.line(
        store
          ? 'Success! You are now authenticated. The token information displayed below\nis already stored: further commands use it, and you need not log in again.\n'
          : 'The token was not stored. Set the STRONGROOM_TOKEN environment variable to use it\nwith further commands.\n',
      );
    }
    if (options.format === 'raw') return out.line(secret.text.trimEnd());
    await out.secret(secret);
  },
});
