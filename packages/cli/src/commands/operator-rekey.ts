import type { ApiClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, Failure } from '../failure.ts';
import { table } from '../format/columns.ts';
import { goValue } from '../format/go-value.ts';
import type { JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';
import { callBare, chooseFamily } from './operation-family.ts';
import { readPgpKeys } from './pgp-keys.ts';

async function showState(out: Output, state: JsonRecord): Promise<void> {
  if (!out.plain) return out.record(state);
  const rows: [string, string][] = [
    ['Nonce', String(state['nonce'] ?? state['verification_nonce'] ?? '')],
    ['Started', goValue(state['started'] ?? false)],
  ];
  if (state['started'] === true) {
    rows.push(['Rekey Progress', `${goValue(state['progress'] ?? 0)}/${goValue(state['required'] ?? state['t'])}`]);
    rows.push(['New Shares', goValue(state['n'])], ['New Threshold', goValue(state['t'])]);
    if (state['verification_required'] !== undefined) rows.push(['Verification Required', goValue(state['verification_required'])]);
    if (state['verification_nonce']) rows.push(['Verification Nonce', goValue(state['verification_nonce'])]);
    if (Array.isArray(state['pgp_fingerprints'])) {
      rows.push(['PGP Fingerprints', goValue(state['pgp_fingerprints'])], ['Backup Storage', goValue(state['backup'] ?? false)]);
    }
  }
  out.line(table(['Key', 'Value'], rows));
}

async function showDone(out: Output, reply: JsonRecord, first = false): Promise<void> {
  if (!out.plain) return out.record(reply);
  const keys = Array.isArray(reply['keys_base64']) ? reply['keys_base64'].map(String) : [];
  const prints = Array.isArray(reply['pgp_fingerprints']) ? reply['pgp_fingerprints'].map(String) : [];
  keys.forEach((key, index) =>
    out.line(`Key ${index + 1}${prints[index] === undefined ? '' : ` fingerprint: ${prints[index]}; value`}: ${key}`),
  );
  out.line(`\nOperation nonce: ${String(reply['nonce'] ?? '')}\n`);
  if (reply['verification_required'] === true) {
    out.line(
      `The new shares take effect once enough of them have come back:\n\n    strongroom operator rekey -verify -nonce=${String(reply['verification_nonce'] ?? '')}`,
    );
  } else if (keys.length === 0) out.line('The root key was replaced.');
  else
    out.line(
      `${first ? 'These are the first shares of the key.' : 'The key has new shares; the old ones count no more.'} Hand them to different people.`,
    );
}

export const rekey = defineCommand({
  name: 'rekey',
  aliases: ['rotate-keys'],
  synopsis: 'Make new key shares',
  description: 'Makes new shares of the key, with another number or threshold. Start with -init, then give the old shares one by one.',
  args: ['[KEY]'],
  flags: {
    init: flag.boolean('Start. Prints a nonce that the following calls need.'),
    cancel: flag.boolean('Stop, and forget the shares that came.'),
    status: flag.boolean('Print how far it is.'),
    'key-shares': flag.integer('Into how many shares the key is split. Default: 5.', { aliases: ['n'] }),
    'key-threshold': flag.integer('How many shares unseal the server. Default: 3.', { aliases: ['t'] }),
    nonce: flag.text('Nonce that -init printed. Default: the one of the running operation.'),
    'pgp-keys': flag.list('Public key files, comma list, to encrypt the shares with.', { placeholder: 'files' }),
    backup: flag.boolean('Keep a copy of the encrypted shares in the store.'),
    'backup-retrieve': flag.boolean('Print the copy.'),
    'backup-delete': flag.boolean('Remove the copy.'),
    target: flag.text('Which key. Default: barrier.', { choices: ['barrier', 'recovery'] }),
    verify: flag.boolean('With -init: new shares take effect only after they came back. Otherwise: give a new share back.'),
  },
  examples: [
    { text: 'Start:', command: 'operator rekey -init -key-shares=3 -key-threshold=2' },
    { text: 'Enter an old share at the prompt:', command: 'operator rekey' },
  ],
  async run({ args: [word], flags, io, out, client, ask }) {
    const recovery = flags.target === 'recovery';
    const older = recovery ? 'sys/rekey-recovery-key/' : 'sys/rekey/';
    const family = await doing(
      'Error reading the state of rekeying',
      chooseFamily(client(), recovery ? 'sys/rotate/recovery/' : 'sys/rotate/root/', older, 'init'),
    );
    const stage = flags.verify && !flags.init ? 'verify' : 'init';
    if (flags.init) {
      const body = {
        secret_shares: flags['key-shares'] ?? 5,
        secret_threshold: flags['key-threshold'] ?? 3,
        pgp_keys: await readPgpKeys(flags['pgp-keys']),
        backup: flags.backup,
        require_verification: flags.verify,
      };
      const reply = await doing('Error initializing rekey', family.call('PUT', 'init', body));
      // The first recovery shares, which no present share authorizes.
      if (reply['complete'] === true) return showDone(out, reply, true);
      return showState(out, reply['started'] === undefined ? await family.call('GET', 'init') : reply);
    }
    if (flags.cancel) {
      await doing('Error canceling rekey', family.call('DELETE', stage));
      return out.success('Canceled rekeying (if it was started)');
    }
    if (flags['backup-retrieve'] || flags['backup-delete']) return backup(out, client(), family.prefix, flags['backup-delete']);
    const state = await doing('Error getting rekey status', family.call('GET', stage));
    if (flags.status) return showState(out, state);
    if (state['started'] !== true && stage === 'init')
      throw new Failure('No rekey is in progress. Start it with "strongroom operator rekey -init"');
    const nonce = flags.nonce ?? String(state['nonce'] ?? '');
    let key = word;
    if (key === '-') key = (await (await import('../input.ts')).readAll(io.stdin)).trim();
    key ??= await ask(
      'Key share (will be hidden): ',
      'The key share is missing: give it as an argument, or "-" to read it from standard input',
    );
    const reply = await doing('Error posting unseal key', family.call('PUT', stage === 'verify' ? 'verify' : 'update', { key, nonce }));
    if (reply['complete'] !== true) return showState(out, reply);
    if (stage === 'verify') return out.success('The new shares are verified, and in effect.');
    await showDone(out, reply);
  },
});

async function backup(out: Output, client: ApiClient, prefix: string, remove: boolean): Promise<void> {
  const path = prefix === 'sys/rekey-recovery-key/' ? 'sys/rekey/recovery-key-backup' : `${prefix}backup`;
  if (remove) {
    await doing('Error deleting the backup', callBare(client, 'DELETE', path));
    return out.success('Deleted the backup of the keys (if it existed)');
  }
  await out.record(await doing('Error retrieving the backup', callBare(client, 'GET', path)));
}
