import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { isRecord } from '../json.ts';
import { loginHelp } from '../login/login-methods.ts';
import { enableBody, enableFlags, mountPath, mountRows, tokenTypeFlag, tuneBody, tuneFlags } from './mount-flags.ts';
import { remount } from './remount.ts';
import { forceFlag, unmount } from './unmount.ts';

const lockoutFlags = {
  'user-lockout-threshold': flag.integer('Failed logins until a user is locked out.'),
  'user-lockout-duration': flag.duration('How long a user stays locked out.'),
  'user-lockout-counter-reset-duration': flag.duration('How long until failed logins are forgotten.'),
  'user-lockout-disable': flag.toggle('Never lock users out.'),
} as const;

const authPath = (path: string): string => mountPath(path.replace(/^\/?auth\//, ''));

const enable = defineCommand({
  name: 'enable',
  synopsis: 'Mount an auth method',
  args: ['TYPE'],
  flags: { ...enableFlags, 'token-type': tokenTypeFlag },
  examples: [{ text: 'Logins at a directory:', command: 'auth enable -path=corp ldap' }],
  async run({ args: [type = ''], flags, out, client }) {
    if (type === 'plugin' && flags['plugin-name'] === undefined) throw new Failure('The plugin is missing: give -plugin-name=<name>');
    const path = authPath(flags.path ?? (type === 'plugin' ? (flags['plugin-name'] ?? type) : type));
    const config = flags['token-type'] === undefined ? {} : { token_type: flags['token-type'] };
    const body = enableBody(type, flags, flags.options, config);
    await doing(`Error enabling ${type} auth`, client().secret('POST', `sys/auth/${path}`, { body }));
    out.success(type === 'plugin' ? `Enabled the ${flags['plugin-name']} plugin at: ${path}` : `Enabled ${type} auth method at: ${path}`);
  },
});

const disable = defineCommand({
  name: 'disable',
  synopsis: 'Unmount an auth method',
  description: 'Unmounts a method and revokes every token that it issued.',
  args: ['PATH'],
  words: { PATH: 'login' },
  flags: { force: forceFlag },
  examples: [{ text: 'End directory logins:', command: 'auth disable corp' }],
  async run({ args: [path = ''], flags, out, client }) {
    const mount = authPath(path);
    const done = `Disabled the auth method (if it existed) at: ${mount}`;
    await unmount(client(), out, { at: `sys/auth/${mount}`, mount, what: 'auth method', done, force: flags.force });
  },
});

const list = defineCommand({
  name: 'list',
  synopsis: 'List the mounted auth methods',
  args: [],
  flags: { detailed: flag.boolean('Print every setting of each mount.') },
  examples: [{ text: 'How can one log in?', command: 'auth list' }],
  async run({ flags, out, client }) {
    const secret = await doing('Error listing enabled authentications', client().read('sys/auth'));
    if (secret?.wrap_info !== undefined) return out.secret(secret);
    if (secret?.data === undefined) throw new Failure('The server returned no auth methods', EXIT.remote);
    const { header, rows } = mountRows(secret.data, flags.detailed, 'auth');
    await out.rows(header, rows, secret.data);
  },
});

const tune = defineCommand({
  name: 'tune',
  synopsis: "Change a method's settings",
  description: 'Changes the settings given; the others stay.',
  args: ['PATH'],
  words: { PATH: 'login' },
  flags: { ...tuneFlags, 'token-type': tokenTypeFlag, ...lockoutFlags },
  examples: [{ text: 'Shorten the logins:', command: 'auth tune -default-lease-ttl=8h corp' }],
  async run({ args: [path = ''], flags, out, client }) {
    const mount = authPath(path);
    const seconds = (value: number | undefined) => (value === undefined ? undefined : `${value}s`);
    const lockout = Object.fromEntries(
      Object.entries({
        lockout_threshold: flags['user-lockout-threshold'] === undefined ? undefined : String(flags['user-lockout-threshold']),
        lockout_duration: seconds(flags['user-lockout-duration']),
        lockout_counter_reset_duration: seconds(flags['user-lockout-counter-reset-duration']),
        lockout_disable: flags['user-lockout-disable'],
      }).filter(([, value]) => value !== undefined),
    );
    const body = {
      ...tuneBody(flags),
      ...(flags.description === undefined ? {} : { description: flags.description }),
      ...(Object.keys(flags.options).length === 0 ? {} : { options: flags.options }),
      ...(flags['token-type'] === undefined ? {} : { token_type: flags['token-type'] }),
      ...(Object.keys(lockout).length === 0 ? {} : { user_lockout_config: lockout }),
    };
    const secret = await doing(`Error tuning auth method ${mount}`, client().secret('POST', `sys/mounts/auth/${mount}tune`, { body }));
    if (secret !== undefined) out.warnings(secret);
    out.success(`Tuned the auth method at: ${mount}`);
  },
});

const move = defineCommand({
  name: 'move',
  synopsis: 'Move an auth method to another path',
  description: 'Moves a method with its configuration. Tokens that it issued are revoked.',
  args: ['SOURCE', 'DESTINATION'],
  words: { SOURCE: 'login' },
  flags: {},
  examples: [{ text: 'Move a method:', command: 'auth move corp staff' }],
  async run({ args: [source = '', destination = ''], out, client, sleep }) {
    await remount(client(), out, { from: authPath(source), to: authPath(destination), what: 'auth method', prefix: 'auth/' }, sleep);
  },
});

const help = defineCommand({
  name: 'help',
  synopsis: 'Print how to log in with a method',
  description:
    'Prints the words that login takes for a method. Given a path ending in a slash, it asks the server for the type of the method there.',
  args: ['TYPE | PATH'],
  flags: {},
  examples: [{ text: 'How does one log in at a directory?', command: 'auth help ldap' }],
  async run({ args: [word = ''], out, client }) {
    if (!word.endsWith('/')) return out.line(loginHelp(word));
    const secret = await doing('Error listing auth methods', client().read('sys/auth'));
    const mount = secret?.data?.[authPath(word)];
    if (!isRecord(mount)) throw new Failure(`No auth method is enabled at: ${authPath(word)}`);
    out.line(loginHelp(String(mount['type'])));
  },
});

const auth: CommandGroup = {
  name: 'auth',
  synopsis: 'Work with auth methods',
  subcommands: [enable, disable, list, tune, move, help],
};
export default auth;
