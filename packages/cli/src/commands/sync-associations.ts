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

const PREVIEW_COLUMNS: readonly Column[] = [
  ['Secret', (one) => one['secret_name']],
  ['Remote Names', (one) => (Array.isArray(one['remote_names']) ? one['remote_names'].join(', ') : undefined)],
  ['Error', (one) => one['error']],
];

const RULE_COLUMNS: readonly Column[] = [
  ['Mount', (one) => one['mount']],
  ['Rule', (one) => one['secret_name']],
  ['Destination', (one) => `${String(one['store_type'])}/${String(one['store_name'])}`],
  ['Excluded', (one) => (Array.isArray(one['exclude']) ? one['exclude'].join(', ') : undefined)],
  ['Linked', (one) => one['linked']],
  ['Denied', (one) => one['denied']],
  ['Beyond Max', (one) => one['beyond_max']],
  ['Made By', (one) => one['made_by']],
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

const rules = defineCommand({
  name: 'rules',
  synopsis: 'List rules that link folders',
  description:
    'With a destination: its rules. Without: those of every destination. A rule links every secret of a folder or a mount, as secrets come and go.',
  args: ['[TYPE/NAME]'],
  flags: {},
  examples: [{ text: 'Which folders are synced?', command: 'sync associations rules' }],
  async run({ args: [word], out, client }) {
    const failed = 'Error listing rules';
    const secret = await (word === undefined
      ? doing(failed, client().list('sys/sync/associations'))
      : doing(failed, client().read(`${destinationAt(word)}/associations`)));
    await showRecords(out, secret, recordsOf(secret?.data?.['rules']), RULE_COLUMNS, 'There is no rule.');
  },
});

const wait = flag.duration('How long to wait for the provider. Default: 5 seconds; the server goes on in the background.');

function linkOf(mount: string, secret_name: string, seconds: number | undefined): JsonRecord {
  return { mount, secret_name, ...(seconds === undefined ? {} : { wait: seconds }) };
}

const set = defineCommand({
  name: 'set',
  synopsis: 'Link a secret with a destination',
  description:
    'Links the secret and copies it. A secret that is linked already is compared, and written where it differs. In place of a secret, "folder/*" or "*" makes a ' +
    'rule: it links every secret of the folder or of the mount that you may read, as secrets come and go.',
  args: ['TYPE/NAME', 'MOUNT', 'SECRET'],
  flags: {
    wait,
    exclude: flag.list('With a rule: a secret, or a folder such as team/private/*, that it leaves out; repeatable.', {
      placeholder: 'name',
    }),
    'max-secrets': flag.integer('With a rule: the most secrets that it links. Default: 1000.'),
    'dry-run': flag.boolean('With a rule: print which secrets it would link, and link nothing.'),
  },
  examples: [
    { text: 'Copy a secret from now on:', command: 'sync associations set aws-sm/production secret/ app/db' },
    {
      text: 'Copy every secret below a folder:',
      command: "sync associations set -exclude='team/private/*' aws-sm/production secret/ 'team/*'",
    },
    { text: 'See what a rule would copy:', command: "sync associations set -dry-run aws-sm/production secret/ '*'" },
  ],
  async run({ args: [word = '', mount = '', name = ''], flags, out, client }) {
    const body = {
      ...linkOf(mount, name, flags.wait),
      ...(flags.exclude.length === 0 ? {} : { exclude: flags.exclude }),
      ...(flags['max-secrets'] === undefined ? {} : { max_secrets: flags['max-secrets'] }),
      ...(flags['dry-run'] === true ? { dry_run: true } : {}),
    };
    if (flags['dry-run'] === true) {
      const preview = await doing(`Error trying ${name}`, client().write(`${destinationAt(word)}/associations/set`, body));
      return showRecords(out, preview, recordsOf(preview?.data?.['would_link']), PREVIEW_COLUMNS, `${name} would link no secret.`);
    }
    const secret = await doing(`Error linking ${name}`, client().write(`${destinationAt(word)}/associations/set`, body));
    await showCopies(out, secret, `${name} of ${mount} is linked with ${word}; nothing is copied yet.`);
  },
});

const remove = defineCommand({
  name: 'remove',
  synopsis: 'Unlink a secret from a destination',
  description:
    'Unlinks the secret and removes its copies outside. With a rule such as "team/*": removes the rule, and what it alone has linked.',
  args: ['TYPE/NAME', 'MOUNT', 'SECRET'],
  flags: { wait },
  examples: [{ text: 'Stop copying a secret:', command: 'sync associations remove aws-sm/production secret/ app/db' }],
  async run({ args: [word = '', mount = '', name = ''], flags, out, client }) {
    const body = linkOf(mount, name, flags.wait);
    const secret = await doing(`Error unlinking ${name}`, client().write(`${destinationAt(word)}/associations/remove`, body));
    const ruled = recordsOf(secret?.data?.['rules']).length > 0;
    await showCopies(out, secret, ruled ? `The rule ${name} of ${mount} is removed.` : `${name} of ${mount} is not linked with ${word}.`);
  },
});

export const associations: CommandGroup = {
  name: 'associations',
  synopsis: 'Work with secrets that are linked with destinations',
  subcommands: [list, rules, status, set, remove],
};
