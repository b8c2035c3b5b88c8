import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';

const create = defineCommand({
  name: 'create',
  synopsis: 'Create a token',
  description: 'Creates a token. Without policies it gets those of the token that asks; without -orphan it ends with that token.',
  args: [],
  flags: {
    policy: flag.list('Policy of the token; repeatable.', { placeholder: 'name' }),
    ttl: flag.duration('How long the token lives before it must be renewed.'),
    'explicit-max-ttl': flag.duration('How long the token lives at most, renewed or not.'),
    period: flag.duration('Make it a periodic token: every renewal gives it this long, without end.'),
    renewable: flag.boolean('Whether the token can be renewed.', { fallback: true }),
    orphan: flag.boolean('Give the token no parent. Needs root or sudo.'),
    'no-default-policy': flag.boolean('Leave the default policy out.'),
    'use-limit': flag.integer('How many requests the token is good for. 0: any number.'),
    type: flag.text('Kind of token. Default: service.', { choices: ['service', 'batch'] }),
    'display-name': flag.text('Name of the token in the audit log.'),
    metadata: flag.map('Free words that the audit log shows; repeatable.'),
    role: flag.text('Token role to create it by.', { placeholder: 'name' }),
    'entity-alias': flag.text('Alias to bind the token to; only with -role.', { placeholder: 'name' }),
    id: flag.text('The token itself, instead of a random one. Needs sudo.', { placeholder: 'token' }),
  },
  examples: [
    { text: 'A token for a job:', command: 'token create -policy=ci -ttl=1h -use-limit=20' },
    { text: 'A token that lives as long as it is renewed daily:', command: 'token create -policy=agent -period=24h -orphan' },
  ],
  async run({ flags, out, client }) {
    const seconds = (value: number | undefined) => (value === undefined ? undefined : `${value}s`);
    const body = {
      id: flags.id,
      policies: flags.policy.length === 0 ? undefined : flags.policy.flatMap((text) => text.split(',')),
      meta: Object.keys(flags.metadata).length === 0 ? undefined : flags.metadata,
      ttl: seconds(flags.ttl),
      explicit_max_ttl: seconds(flags['explicit-max-ttl']),
      period: seconds(flags.period),
      no_parent: flags.orphan ? true : undefined,
      no_default_policy: flags['no-default-policy'] ? true : undefined,
      display_name: flags['display-name'],
      num_uses: flags['use-limit'],
      renewable: flags.renewable,
      type: flags.type,
      entity_alias: flags['entity-alias'],
    };
    const path = flags.role === undefined ? 'auth/token/create' : `auth/token/create/${flags.role}`;
    const secret = await doing('Error creating token', client().secret('POST', path, { body }));
    if (secret === undefined) throw new Failure('The server returned no token', EXIT.remote);
    await out.secret(secret);
  },
});

const accessorFlag = flag.boolean('Take the word given as an accessor, not as a token.');

const lookup = defineCommand({
  name: 'lookup',
  synopsis: 'Print the state of a token',
  description: 'Prints what the server knows about the token given, or your own.',
  args: ['[TOKEN | ACCESSOR]'],
  flags: { accessor: accessorFlag },
  examples: [{ text: 'How long does your own token live?', command: 'token lookup -field=ttl' }],
  async run({ args: [word], flags, out, client }) {
    if (flags.accessor && word === undefined) throw new Failure('The accessor is missing: give it as an argument');
    const api = client();
    const work =
      word === undefined
        ? api.read('auth/token/lookup-self')
        : flags.accessor
          ? api.secret('POST', 'auth/token/lookup-accessor', { body: { accessor: word } })
          : api.secret('POST', 'auth/token/lookup', { body: { token: word } });
    const secret = await doing('Error looking up token', work);
    if (secret === undefined) throw new Failure('The server said nothing about the token', EXIT.remote);
    await out.secret(secret);
  },
});

const renew = defineCommand({
  name: 'renew',
  synopsis: 'Renew a token',
  description: 'Renews the token given, or your own.',
  args: ['[TOKEN | ACCESSOR]'],
  flags: {
    accessor: accessorFlag,
    increment: flag.duration('How long the token shall live from now on. The server may grant less.', { aliases: ['i'] }),
  },
  examples: [{ text: 'Half an hour from now:', command: 'token renew -increment=30m' }],
  async run({ args: [word], flags, out, client }) {
    if (flags.accessor && word === undefined) throw new Failure('The accessor is missing: give it as an argument');
    const api = client();
    const increment = Math.trunc(flags.increment ?? 0);
    const work =
      word === undefined
        ? api.write('auth/token/renew-self', { increment })
        : flags.accessor
          ? api.secret('POST', 'auth/token/renew-accessor', { body: { accessor: word, increment } })
          : api.write('auth/token/renew', { token: word, increment });
    const secret = await doing('Error renewing token', work);
    if (secret === undefined) return out.success('Renewed token');
    await out.secret(secret);
  },
});

const revoke = defineCommand({
  name: 'revoke',
  synopsis: 'Revoke a token and its children',
  description: 'Revokes a token, the tokens made by it, and their leases.',
  args: ['[TOKEN | ACCESSOR]'],
  flags: {
    accessor: accessorFlag,
    self: flag.boolean('Revoke your own token.'),
    mode: flag.text('orphan: let the children live on.', { choices: ['orphan', ''] }),
  },
  examples: [
    { text: 'Log out for good:', command: 'token revoke -self' },
    { text: 'Revoke by accessor:', command: 'token revoke -accessor 9793c9b3-e04a-46f3-e7b8-748d7da248da' },
  ],
  async run({ args: [word], flags, out, client }) {
    if (flags.self === (word !== undefined))
      throw new Failure(flags.self ? 'Too many arguments with -self' : 'Not enough arguments: give a token, or -self');
    if (flags.accessor && (flags.self || flags.mode === 'orphan'))
      throw new Failure('-accessor cannot be combined with -self or -mode=orphan');
    if (flags.self && flags.mode === 'orphan') throw new Failure('-self cannot be combined with -mode=orphan');
    const api = client();
    const work = flags.self
      ? api.secret('PUT', 'auth/token/revoke-self')
      : flags.accessor
        ? api.secret('POST', 'auth/token/revoke-accessor', { body: { accessor: word } })
        : api.write(flags.mode === 'orphan' ? 'auth/token/revoke-orphan' : 'auth/token/revoke', { token: word });
    const secret = await doing('Error revoking token', work);
    if (secret !== undefined) out.warnings(secret);
    out.success('Revoked token (if it existed)');
  },
});

const capabilities = defineCommand({
  name: 'capabilities',
  synopsis: 'Print what a token may do at a path',
  description: 'Prints the capabilities of your own token, or the one given, at a path.',
  args: ['[TOKEN | ACCESSOR]', 'PATH'],
  flags: { accessor: accessorFlag },
  examples: [{ text: 'What may I do there?', command: 'token capabilities secret/data/app' }],
  async run({ args, flags, out, client }) {
    const [word, path] = args.length === 1 ? [undefined, args[0]] : args;
    if (flags.accessor && word === undefined) throw new Failure('The accessor is missing: give it before the path');
    const kind = word === undefined ? 'capabilities-self' : flags.accessor ? 'capabilities-accessor' : 'capabilities';
    const who = word === undefined ? {} : flags.accessor ? { accessor: word } : { token: word };
    const secret = await doing('Error listing capabilities', client().secret('POST', `sys/${kind}`, { body: { ...who, paths: [path] } }));
    if (secret?.wrap_info !== undefined) return out.secret(secret);
    const found = secret?.data?.['capabilities'] ?? secret?.data?.[path ?? ''];
    if (!Array.isArray(found)) throw new Failure('The server returned no capabilities', EXIT.remote);
    const names = found.map(String).sort();
    if (out.format === 'json' || out.format === 'yaml') return out.document(names);
    out.line(names.join(', '));
  },
});

const token: CommandGroup = { name: 'token', synopsis: 'Work with tokens', subcommands: [create, lookup, renew, revoke, capabilities] };
export default token;
