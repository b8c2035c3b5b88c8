import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { isRecord } from '../json.ts';
import { parsePairs } from '../kv-pairs.ts';
import { mountPath } from './mount-flags.ts';

const enable = defineCommand({
  name: 'enable',
  synopsis: 'Enable an audit device',
  description: 'Enables a device of the type given; the words that follow are its options.',
  args: ['TYPE', '[K=V...]'],
  flags: {
    path: flag.text('Where to enable it. Default: its type.', { placeholder: 'path' }),
    description: flag.text('What the device is for, in words.'),
    local: flag.boolean('Keep this device out of replication.'),
  },
  examples: [{ text: 'Log to a file:', command: 'audit enable file file_path=/var/log/strongroom-audit.log' }],
  async run({ args: [type = '', ...pairs], flags, io, out, client }) {
    const options = await parsePairs(pairs, io.stdin);
    const path = mountPath(flags.path ?? type);
    const body = { type, description: flags.description ?? '', options, local: flags.local };
    await doing('Error enabling audit device', client().write(`sys/audit/${path}`, body));
    out.success(`Enabled the ${type} audit device at: ${path}`);
  },
});

const disable = defineCommand({
  name: 'disable',
  synopsis: 'Disable an audit device',
  args: ['PATH'],
  words: { PATH: 'audit' },
  flags: {},
  examples: [{ text: 'Stop logging to the file:', command: 'audit disable file/' }],
  async run({ args: [word = ''], out, client }) {
    const path = mountPath(word);
    await doing('Error disabling audit device', client().delete(`sys/audit/${path}`));
    out.success(`Disabled audit device (if it was enabled) at: ${path}`);
  },
});

const list = defineCommand({
  name: 'list',
  synopsis: 'List the enabled audit devices',
  args: [],
  flags: { detailed: flag.boolean('Print the options of each device as well.') },
  examples: [{ text: 'Where does the audit go?', command: 'audit list -detailed' }],
  async run({ flags, out, client }) {
    const secret = await doing('Error listing audits', client().read('sys/audit'));
    if (secret?.wrap_info !== undefined) return out.secret(secret);
    const devices = secret?.data ?? {};
    const rows = Object.keys(devices)
      .sort()
      .flatMap((path) => {
        const device = devices[path];
        if (!isRecord(device)) return [];
        const short = [path, String(device['type'] ?? ''), String(device['description'] ?? '')];
        if (!flags.detailed) return [short];
        const options = isRecord(device['options']) ? device['options'] : {};
        const words = Object.keys(options).sort();
        return [
          [...short, device['local'] === true ? 'local' : 'replicated', words.map((name) => `${name}=${String(options[name])}`).join(' ')],
        ];
      });
    if (rows.length === 0 && out.plain) throw new Failure('No audit devices are enabled.', EXIT.remote);
    await out.rows(
      flags.detailed ? ['Path', 'Type', 'Description', 'Replication', 'Options'] : ['Path', 'Type', 'Description'],
      rows,
      devices,
    );
  },
});

const audit: CommandGroup = { name: 'audit', synopsis: 'Work with audit devices', subcommands: [enable, disable, list] };
export default audit;
