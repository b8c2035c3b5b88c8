import { defineCommand, type CommandGroup } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { flag } from '../flag.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import { parsePairs } from '../kv-pairs.ts';
import { counted, recordsOf, showRecords, textOf } from './record-rows.ts';
import { listKeys } from './list-keys.ts';

const PATH = 'sys/sync/destinations';

/** The path of a destination that somebody typed as `type/name`. */
export function destinationAt(word: string): string {
  const [type = '', name = '', ...more] = word
    .trim()
    .replace(/^\/+|\/+$/g, '')
    .split('/');
  if (type === '' || name === '' || more.length > 0)
    throw new Failure(`"${word}" is no destination: give its type and its name, such as aws-sm/production`);
  return `${PATH}/${type}/${name}`;
}

const list = defineCommand({
  name: 'list',
  synopsis: 'List destinations',
  args: ['[TYPE]'],
  flags: {},
  examples: [
    { text: 'Where do secrets go?', command: 'sync destinations list' },
    { text: 'Only one type:', command: 'sync destinations list aws-sm' },
  ],
  async run({ args: [type], out, client }) {
    if (type !== undefined) {
      const path = `${PATH}/${type.replace(/^\/+|\/+$/g, '')}`;
      return listKeys(out, path, await doing('Error listing destinations', client().list(path)));
    }
    const secret = await doing('Error listing destinations', client().list(PATH));
    const byType = isRecord(secret?.data?.['key_info']) ? secret.data['key_info'] : {};
    const rows = Object.keys(byType)
      .sort()
      .flatMap((key) =>
        (Array.isArray(byType[key]) ? byType[key] : []).map((name): JsonRecord => ({ type: key.replace(/\/$/, ''), name })),
      );
    await showRecords(
      out,
      secret,
      rows,
      [
        ['Type', (row) => row['type']],
        ['Name', (row) => row['name']],
      ],
      'There are no destinations.',
    );
    return EXIT.ok;
  },
});

const read = defineCommand({
  name: 'read',
  synopsis: 'Print a destination, with its secrets masked',
  args: ['TYPE/NAME'],
  flags: {},
  examples: [{ text: 'How is it configured?', command: 'sync destinations read aws-sm/production' }],
  async run({ args: [word = ''], out, client }) {
    const secret = await doing(`Error reading ${word}`, client().read(destinationAt(word)));
    if (secret === undefined) throw new Failure(`There is no destination ${word}`, EXIT.remote);
    await out.secret(secret);
  },
});

const write = defineCommand({
  name: 'write',
  synopsis: 'Create or change a destination',
  description:
    'Creates the destination, or changes the fields given and keeps the others. Data are words of the form key=value, as for "strongroom write".',
  args: ['TYPE/NAME', '[K=V...]'],
  flags: {},
  examples: [
    {
      text: 'Take the key from standard input:',
      command: 'sync destinations write aws-sm/production region=eu-central-1 access_key_id=AKIAEXAMPLE secret_access_key=-',
    },
  ],
  async run({ args: [word = '', ...pairs], io, out, client }) {
    const path = destinationAt(word);
    const secret = await doing(`Error writing ${word}`, client().write(path, await parsePairs(pairs, io.stdin)));
    if (!out.plain && secret !== undefined) return out.secret(secret);
    if (secret) out.warnings(secret);
    out.success(`Wrote the destination: ${word}`);
  },
});

const remove = defineCommand({
  name: 'delete',
  synopsis: 'Delete a destination',
  description:
    'Deletes a destination that no secret is linked with. -purge removes the copies first; -force leaves them outside and prints them.',
  args: ['TYPE/NAME'],
  flags: {
    purge: flag.boolean('Unlink all secrets and remove their copies outside, then delete the destination.'),
    force: flag.boolean('Delete it now, and leave the copies outside. It takes sudo.'),
  },
  examples: [
    { text: 'Delete an empty one:', command: 'sync destinations delete aws-sm/production' },
    { text: 'Remove its copies as well:', command: 'sync destinations delete -purge aws-sm/production' },
  ],
  async run({ args: [word = ''], flags, out, client }) {
    if (flags.purge && flags.force) throw new Failure('-purge and -force exclude each other');
    const query = flags.purge ? { purge: 'true' } : flags.force ? { force_delete: 'true' } : {};
    const secret = await doing(`Error deleting ${word}`, client().secret('DELETE', destinationAt(word), { query }));
    if (secret !== undefined) {
      if (secret.wrap_info !== undefined || !out.plain) return out.secret(secret);
      out.warnings(secret);
      const left = recordsOf(secret.data?.['outside']);
      if (left.length > 0)
        await showRecords(
          out,
          secret,
          left,
          [
            ['Kind', (thing) => thing['kind']],
            ['Name', (thing) => thing['name']],
            ['System', (thing) => thing['system']],
          ],
          '',
        );
      if (secret.data?.['purge_initiated_at'] !== undefined) {
        const error = textOf(secret.data, 'purge_error');
        return out.line(
          `Its copies are being removed${error === '' ? '' : `; the last error was: ${error}`}. It is deleted after the last one.`,
        );
      }
    }
    out.success(`Deleted the destination: ${word}`);
  },
});

const DIFFERENCES = [
  ['additions', 'to create'],
  ['changes', 'to update'],
  ['foreign_edits', 'edited outside'],
  ['removals', 'to remove'],
  ['conflicts', 'name is taken'],
  ['refused', 'refused'],
  ['orphans', 'belongs to no secret'],
] as const;

/** The differences of a plan as rows. */
function differences(data: JsonRecord): JsonRecord[] {
  return DIFFERENCES.flatMap(([name, what]) => recordsOf(data[name]).map((item) => ({ ...item, what })));
}

const test = defineCommand({
  name: 'test',
  synopsis: 'Try a destination step by step',
  description:
    'Connects to the provider with the stored settings, or with the settings given in their place, and prints each step with its time. Stores nothing. -write also writes a secret whose name begins with strongroom-test-, reads it back and removes it. Data are words of the form key=value, as for "strongroom write". Exit codes: 0 all steps succeed, 2 one of them fails.',
  args: ['TYPE/NAME', '[K=V...]'],
  flags: { write: flag.boolean('Write a secret, read it back and remove it.') },
  examples: [
    { text: 'Do the credentials work?', command: 'sync destinations test -write aws-sm/production' },
    {
      text: 'Would other settings work?',
      command: 'sync destinations test aws-sm/production access_key_id=AKIAEXAMPLE secret_access_key=-',
    },
  ],
  async run({ args: [word = '', ...pairs], flags, io, out, client }) {
    const body = { ...(await parsePairs(pairs, io.stdin)), write: flags.write };
    const secret = await doing(`Error testing ${word}`, client().write(`${destinationAt(word)}/test`, body));
    if (secret === undefined) throw new Failure(`There is no destination ${word}: give the settings to try`, EXIT.remote);
    const data = secret.data ?? {};
    await showRecords(
      out,
      secret,
      recordsOf(data['steps']),
      [
        ['Step', (item) => item['step']],
        ['Result', (item) => (item['ok'] === true ? 'ok' : 'failed')],
        ['Milliseconds', (item) => item['milliseconds']],
        ['Error', (item) => item['error']],
      ],
      '',
    );
    return data['ok'] === true ? EXIT.ok : EXIT.remote;
  },
});

const plan = defineCommand({
  name: 'plan',
  synopsis: 'Compare a destination with what it should hold',
  description:
    'Prints what differs outside from what the destination should hold. Changes nothing. Exit codes: 0 nothing differs, 2 something differs or the provider refuses.',
  args: ['TYPE/NAME'],
  flags: {},
  examples: [{ text: 'Has somebody edited a copy?', command: 'sync destinations plan aws-sm/production' }],
  async run({ args: [word = ''], out, client }) {
    const secret = await doing(`Error reading the plan of ${word}`, client().read(`${destinationAt(word)}/plan`));
    const data = secret?.data ?? {};
    const inSync = Number(data['in_sync'] ?? 0);
    const same = `${word} answers. ${counted(inSync, 'copy', 'copies')} ${inSync === 1 ? 'is' : 'are'} in sync; nothing differs.`;
    await showRecords(
      out,
      secret,
      differences(data),
      [
        ['Mount', (item) => item['mount']],
        ['Secret', (item) => item['secret_name']],
        ['Key', (item) => item['sub_key']],
        ['Remote Name', (item) => item['remote_name']],
        ['Difference', (item) => item['what']],
      ],
      same,
    );
    return Number(data['total'] ?? 0) > 0 ? EXIT.remote : EXIT.ok;
  },
});

const reconcile = defineCommand({
  name: 'reconcile',
  synopsis: 'Repair what differs outside',
  description: 'Puts every copy that differs into the queue. "strongroom sync destinations plan" shows what differs.',
  args: ['TYPE/NAME'],
  flags: { 'remove-orphans': flag.boolean('Also remove secrets that carry the mark of this destination and belong to no secret here.') },
  examples: [{ text: 'Somebody edited a copy:', command: 'sync destinations reconcile aws-sm/production' }],
  async run({ args: [word = ''], flags, out, client }) {
    const body = { remove_orphans: flags['remove-orphans'] };
    const secret = await doing(`Error reconciling ${word}`, client().write(`${destinationAt(word)}/reconcile`, body));
    if (!out.plain && secret !== undefined) return out.secret(secret);
    const { queued, orphans_removed: orphans } = secret?.data ?? {};
    out.success(
      `Queued ${counted(Number(queued ?? 0), 'copy', 'copies')}, and removed ${counted(Number(orphans ?? 0), 'orphan', 'orphans')}.`,
    );
  },
});

export const destinations: CommandGroup = {
  name: 'destinations',
  synopsis: 'Work with the places that secrets are synced to',
  subcommands: [list, read, write, remove, test, plan, reconcile],
};
