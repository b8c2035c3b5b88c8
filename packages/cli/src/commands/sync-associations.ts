import { defineCommand, type CommandGroup } from '../command.ts';
import { doing } from '../failure.ts';
import { flag } from '../flag.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';
import type { Secret } from '../secret.ts';
import { destinationAt } from './sync-destinations.ts';
import { recordsOf, showRecords, textOf, type Column } from './record-rows.ts';

const COLUMNS: readonly Column[] = [
  ['Mount', (one) => one['mount']],
  ['Secret', (one) => one['secret_name']],
  ['Key', (one) => one['sub_key']],
  ['Remote Name', (one) => one['remote_name']],
  ['Status', (one) => one['sync_status']],
  ['Updated', (one) => one['updated_at']],
  ['Last Error', (one) => textOf(one, 'last_error', 'message')],
];

async function showCopies(out: Output, secret: Secret | undefined, none: string): Promise<void> {
  const found = secret?.data?.['associated_secrets'];
  await showRecords(out, secret, recordsOf(isRecord(found) ? Object.values(found) : []), COLUMNS, none);
}

const list = defineCommand({
  name: 'list',
  synopsis: 'List linked secrets',
  description: 'With a destination: its secrets, and how each copy stands. Without: every secret that is linked with any destination.',
  args: ['[TYPE/NAME]'],
  flags: {},
  examples: [
    { text: 'Which secrets are synced?', command: 'sync associations list' },
    { text: 'How do the copies of one destination stand?', command: 'sync associations list aws-sm/production' },
  ],
  async run({ args: [word], out, client }) {
    const failed = 'Error listing associations';
    if (word !== undefined) {
      const secret = await doing(failed, client().read(`${destinationAt(word)}/associations`));
      return showCopies(out, secret, `No secret is linked with ${word}.`);
    }
    const secret = await doing(failed, client().list('sys/sync/associations'));
    const found = secret?.data?.['key_info'];
    const linked = isRecord(found)
      ? Object.keys(found)
          .sort()
          .flatMap((key) => recordsOf(found[key]))
      : [];
    await showRecords(
      out,
      secret,
      linked,
      [
        ['Mount', (one) => one['mount']],
        ['Secret', (one) => one['secret_path']],
      ],
      'No secret is linked with a destination.',
    );
  },
});

const status = defineCommand({
  name: 'status',
  synopsis: 'Print where a secret is synced to',
  args: ['MOUNT', 'SECRET'],
  flags: {},
  examples: [{ text: 'Did the new version arrive?', command: 'sync associations status secret/ app/db' }],
  async run({ args: [mount = '', name = ''], out, client }) {
    const query = { mount, secret_name: name };
    const secret = await doing(`Error reading the status of ${name}`, client().read('sys/sync/associations/destinations', query));
    const found = secret?.data?.['associated_destinations'];
    const copies = isRecord(found)
      ? Object.keys(found)
          .sort()
          .flatMap((key): JsonRecord[] => recordsOf([found[key]]))
      : [];
    await showRecords(
      out,
      secret,
      copies,
      [
        ['Type', (one) => one['type']],
        ['Name', (one) => one['name']],
        ['Key', (one) => one['sub_key']],
        ['Status', (one) => one['sync_status']],
        ['Updated', (one) => one['updated_at']],
      ],
      `${name} of ${mount} is linked with no destination.`,
    );
  },
});

const wait = flag.duration('How long to wait for the provider. Default: 5 seconds; the server goes on in the background.');

function linkOf(mount: string, secret_name: string, seconds: number | undefined): JsonRecord {
  return { mount, secret_name, ...(seconds === undefined ? {} : { wait: seconds }) };
}

const set = defineCommand({
  name: 'set',
  synopsis: 'Link a secret with a destination',
  description: 'Links the secret and copies it. A secret that is linked already is compared, and written where it differs.',
  args: ['TYPE/NAME', 'MOUNT', 'SECRET'],
  flags: { wait },
  examples: [{ text: 'Copy a secret from now on:', command: 'sync associations set aws-sm/production secret/ app/db' }],
  async run({ args: [word = '', mount = '', name = ''], flags, out, client }) {
    const body = linkOf(mount, name, flags.wait);
    const secret = await doing(`Error linking ${name}`, client().write(`${destinationAt(word)}/associations/set`, body));
    await showCopies(out, secret, `${name} of ${mount} is linked with ${word}; nothing is copied yet.`);
  },
});

const remove = defineCommand({
  name: 'remove',
  synopsis: 'Unlink a secret from a destination',
  description: 'Unlinks the secret and removes its copies outside.',
  args: ['TYPE/NAME', 'MOUNT', 'SECRET'],
  flags: { wait },
  examples: [{ text: 'Stop copying a secret:', command: 'sync associations remove aws-sm/production secret/ app/db' }],
  async run({ args: [word = '', mount = '', name = ''], flags, out, client }) {
    const body = linkOf(mount, name, flags.wait);
    const secret = await doing(`Error unlinking ${name}`, client().write(`${destinationAt(word)}/associations/remove`, body));
    await showCopies(out, secret, `${name} of ${mount} is not linked with ${word}.`);
  },
});

export const associations: CommandGroup = {
  name: 'associations',
  synopsis: 'Work with secrets that are linked with destinations',
  subcommands: [list, status, set, remove],
};
