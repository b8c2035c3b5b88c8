import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { isRecord } from '../json.ts';

const KINDS = ['auth', 'database', 'secret'] as const;

function checkKind(kind: string): string {
  if (!(KINDS as readonly string[]).includes(kind)) throw new Failure(`"${kind}" is not a type of plugin: expected ${KINDS.join(', ')}`);
  return kind;
}

const list = defineCommand({
  name: 'list',
  synopsis: 'List the plugins in the catalog',
  args: ['[TYPE]'],
  flags: { detailed: flag.boolean('Print whether each plugin is built in and still supported.') },
  examples: [{ text: 'Which databases are there?', command: 'plugin list database' }],
  async run({ args: [kind], flags, out, client }) {
    if (kind !== undefined) checkKind(kind);
    const secret = await doing('Error listing available plugins', client().read('sys/plugins/catalog'));
    if (secret?.wrap_info !== undefined) return out.secret(secret);
    const detailed = secret?.data?.['detailed'];
    const plugins = (Array.isArray(detailed) ? detailed : [])
      .filter(isRecord)
      .filter((plugin) => kind === undefined || plugin['type'] === kind);
    const columns = ['name', 'type', 'version', ...(flags.detailed ? ['builtin', 'deprecation_status'] : [])];
    const header = ['Name', 'Type', 'Version', 'Builtin', 'Deprecation Status'].slice(0, columns.length);
    await out.rows(
      header,
      plugins.map((plugin) => columns.map((column) => String(plugin[column] ?? ''))),
      plugins,
    );
  },
});

const info = defineCommand({
  name: 'info',
  synopsis: 'Print what the catalog says about a plugin',
  args: ['TYPE', 'NAME'],
  flags: { version: flag.text('Version of the plugin.', { placeholder: 'semver' }) },
  examples: [{ text: 'Details of a plugin:', command: 'plugin info database postgresql-database-plugin' }],
  async run({ args: [kind = '', name = ''], flags, out, client }) {
    const query = flags.version === undefined ? undefined : { version: flags.version };
    const secret = await doing(
      `Error reading plugin named ${name}`,
      client().read(`sys/plugins/catalog/${checkKind(kind)}/${name}`, query),
    );
    if (secret === undefined) throw new Failure(`No value found for plugin "${name}"`, EXIT.remote);
    await out.secret(secret);
  },
});

const register = defineCommand({
  name: 'register',
  synopsis: 'Add a plugin to the catalog',
  args: ['TYPE', 'NAME'],
  flags: {
    sha256: flag.text('Checksum of the plugin.', { placeholder: 'hex' }),
    command: flag.text('Program to run. Default: NAME.', { placeholder: 'file' }),
    args: flag.list('Argument of the program; repeatable.'),
    env: flag.list('Environment variable of the program, as NAME=value; repeatable.'),
    version: flag.text('Version of the plugin.', { placeholder: 'semver' }),
  },
  examples: [
    {
      text: 'Add a plugin:',
      command: 'plugin register -sha256=d130b9a0fbfddef9709d8ff92e5e6053ccd246b78632fc03b8548457026961e9 database my-database',
    },
  ],
  async run({ args: [kind = '', name = ''], flags, out, client }) {
    if (flags.sha256 === undefined) throw new Failure('The checksum is missing: give -sha256=<hex>');
    const body = {
      type: checkKind(kind),
      command: flags.command ?? name,
      args: flags.args,
      env: flags.env,
      sha256: flags.sha256,
      ...(flags.version === undefined ? {} : { version: flags.version }),
    };
    await doing(`Error registering plugin ${name}`, client().write(`sys/plugins/catalog/${kind}/${name}`, body));
    out.success(`Registered plugin: ${name}`);
  },
});

const deregister = defineCommand({
  name: 'deregister',
  synopsis: 'Remove a plugin from the catalog',
  args: ['TYPE', 'NAME'],
  flags: { version: flag.text('Version of the plugin.', { placeholder: 'semver' }) },
  examples: [{ text: 'Remove a plugin:', command: 'plugin deregister database my-database' }],
  async run({ args: [kind = '', name = ''], flags, out, client }) {
    const query = flags.version === undefined ? undefined : { version: flags.version };
    await doing(`Error deregistering plugin named ${name}`, client().delete(`sys/plugins/catalog/${checkKind(kind)}/${name}`, query));
    out.success(`Deregistered ${kind} plugin (if it was registered): ${name}`);
  },
});

const reload = defineCommand({
  name: 'reload',
  synopsis: 'Restart mounted plugins',
  description: 'Restarts every mount of a plugin, or the mounts given.',
  args: [],
  flags: {
    plugin: flag.text('Name of the plugin.', { placeholder: 'name' }),
    mounts: flag.list('Mount, or a comma list of them; repeatable.', { placeholder: 'path' }),
    scope: flag.text('Where: only on the node asked, or on all.', { choices: ['global', ''] }),
  },
  examples: [{ text: 'After its configuration changed:', command: 'plugin reload -plugin=my-database' }],
  async run({ flags, out, client }) {
    const mounts = flags.mounts.flatMap((text) => text.split(','));
    if ((flags.plugin === undefined) === (mounts.length === 0)) throw new Failure('Give one of -plugin=<name> and -mounts=<path>');
    const body = {
      ...(flags.plugin === undefined ? { mounts } : { plugin: flags.plugin }),
      ...(flags.scope === undefined ? {} : { scope: flags.scope }),
    };
    const secret = await doing('Error reloading plugin/mounts', client().write('sys/plugins/reload/backend', body));
    if (!out.plain && secret !== undefined) return out.secret(secret);
    const id = secret?.data?.['reload_id'];
    const what = flags.plugin === undefined ? `mounts: ${mounts.join(', ')}` : `plugin: ${flags.plugin}`;
    out.success(`Reloaded ${what}${typeof id === 'string' ? `, reload_id: ${id}` : ''}`);
  },
});

const plugin: CommandGroup = {
  name: 'plugin',
  synopsis: 'Work with plugins and the catalog',
  subcommands: [list, info, register, deregister, reload],
};
export default plugin;
