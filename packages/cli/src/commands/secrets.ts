import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { enableBody, enableFlags, mountPath, mountRows, tuneBody, tuneFlags } from './mount-flags.ts';
import { remount } from './remount.ts';
import { forceFlag, unmount } from './unmount.ts';

const versionFlag = flag.integer('Version of the key-value engine: 1 or 2.');

const enable = defineCommand({
  name: 'enable',
  synopsis: 'Mount a secrets engine',
  args: ['TYPE'],
  flags: { ...enableFlags, version: versionFlag },
  examples: [
    { text: 'Mount the database engine at db/prod:', command: 'secrets enable -path=db/prod database' },
    { text: 'Key-value with versions:', command: 'secrets enable -path=secret -version=2 kv' },
  ],
  async run({ args: [type = ''], flags, out, client }) {
    if (type === 'plugin' && flags['plugin-name'] === undefined) throw new Failure('The plugin is missing: give -plugin-name=<name>');
    const path = mountPath(flags.path ?? (type === 'plugin' ? (flags['plugin-name'] ?? type) : type));
    const options = { ...flags.options, ...(flags.version === undefined ? {} : { version: String(flags.version) }) };
    await doing('Error enabling', client().secret('POST', `sys/mounts/${path}`, { body: enableBody(type, flags, options, {}) }));
    out.success(
      type === 'plugin' ? `Enabled the ${flags['plugin-name']} plugin at: ${path}` : `Enabled the ${type} secrets engine at: ${path}`,
    );
  },
});

const disable = defineCommand({
  name: 'disable',
  synopsis: 'Unmount a secrets engine',
  description:
    'Unmounts an engine, revokes every lease below it, and removes its data. If something cannot be revoked now, the server keeps trying, and the engine stays configurable until then.',
  args: ['PATH'],
  words: { PATH: 'mount' },
  flags: { force: forceFlag },
  examples: [
    { text: 'Unmount an engine:', command: 'secrets disable db/prod' },
    { text: 'Unmount one whose database is gone for good:', command: 'secrets disable -force db/prod' },
  ],
  async run({ args: [path = ''], flags, out, client }) {
    const mount = mountPath(path);
    const done = `Disabled the secrets engine (if it existed) at: ${mount}`;
    await unmount(client(), out, { at: `sys/mounts/${mount}`, mount, what: 'secrets engine', done, force: flags.force });
  },
});

const list = defineCommand({
  name: 'list',
  synopsis: 'List the mounted secrets engines',
  args: [],
  flags: { detailed: flag.boolean('Print every setting of each mount.') },
  examples: [{ text: 'What is mounted?', command: 'secrets list' }],
  async run({ flags, out, client }) {
    const secret = await doing('Error listing secrets engines', client().read('sys/mounts'));
    const mounts = secret?.data;
    if (secret?.wrap_info !== undefined) return out.secret(secret);
    if (mounts === undefined) throw new Failure('The server returned no mounts', EXIT.remote);
    const { header, rows } = mountRows(mounts, flags.detailed, 'secret');
    await out.rows(flags.detailed ? header : header.slice(0, 4), flags.detailed ? rows : rows.map((row) => row.slice(0, 4)), mounts);
  },
});

const tune = defineCommand({
  name: 'tune',
  synopsis: "Change a mount's settings",
  description: 'Changes the settings given; the others stay.',
  args: ['PATH'],
  words: { PATH: 'mount' },
  flags: { ...tuneFlags, version: versionFlag },
  examples: [{ text: 'Shorten the leases:', command: 'secrets tune -default-lease-ttl=1h db/prod' }],
  async run({ args: [path = ''], flags, out, client }) {
    const mount = mountPath(path);
    const options = { ...flags.options, ...(flags.version === undefined ? {} : { version: String(flags.version) }) };
    const body = {
      ...tuneBody(flags),
      ...(flags.description === undefined ? {} : { description: flags.description }),
      ...(Object.keys(options).length === 0 ? {} : { options }),
    };
    const secret = await doing(`Error tuning secrets engine ${mount}`, client().secret('POST', `sys/mounts/${mount}tune`, { body }));
    if (secret !== undefined) out.warnings(secret);
    out.success(`Tuned the secrets engine at: ${mount}`);
  },
});

const move = defineCommand({
  name: 'move',
  synopsis: 'Move a secrets engine to another path',
  description: 'Moves an engine with its data. Leases below the old path are revoked.',
  args: ['SOURCE', 'DESTINATION'],
  words: { SOURCE: 'mount' },
  flags: {},
  examples: [{ text: 'Move an engine:', command: 'secrets move db/prod db/live' }],
  async run({ args: [source = '', destination = ''], out, client, sleep }) {
    await remount(client(), out, { from: mountPath(source), to: mountPath(destination), what: 'secrets engine', prefix: '' }, sleep);
  },
});

const secrets: CommandGroup = {
  name: 'secrets',
  synopsis: 'Work with secrets engines',
  subcommands: [enable, disable, list, tune, move],
};
export default secrets;
