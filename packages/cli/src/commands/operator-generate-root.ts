import { randomInt } from 'node:crypto';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, Failure } from '../failure.ts';
import { table } from '../format/columns.ts';
import { goValue } from '../format/go-value.ts';
import type { JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';
import { chooseFamily } from './operation-family.ts';
import { readPgpKeys } from './pgp-keys.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Undoes the one-time pad: the encoded token is the base64 of token XOR password. */
function decodeToken(encoded: string, otp: string): string {
  const masked = Buffer.from(encoded, 'base64');
  const pad = Buffer.from(otp, 'utf8');
  if (masked.length === 0 || masked.length !== pad.length)
    throw new Failure('The one-time password does not fit the encoded token: their lengths differ');
  return Buffer.from(masked.map((byte, index) => byte ^ (pad[index] ?? 0))).toString('utf8');
}

async function showState(out: Output, state: JsonRecord): Promise<void> {
  if (!out.plain) return out.record(state);
  const rows: [string, string][] = [
    ['Nonce', String(state['nonce'] ?? '')],
    ['Started', goValue(state['started'] ?? false)],
    ['Progress', `${goValue(state['progress'] ?? 0)}/${goValue(state['required'] ?? 0)}`],
    ['Complete', goValue(state['complete'] ?? false)],
  ];
  if (typeof state['pgp_fingerprint'] === 'string' && state['pgp_fingerprint'] !== '')
    rows.push(['PGP Fingerprint', state['pgp_fingerprint']]);
  const encoded = state['encoded_token'] ?? state['encoded_root_token'];
  if (typeof encoded === 'string' && encoded !== '') rows.push(['Encoded Token', encoded]);
  if (typeof state['otp'] === 'string' && state['otp'] !== '') rows.push(['OTP', state['otp']]);
  if (state['otp_length'] !== undefined) rows.push(['OTP Length', goValue(state['otp_length'])]);
  out.line(table(['Key', 'Value'], rows));
}

export const generateRoot = defineCommand({
  name: 'generate-root',
  synopsis: 'Make a root token from key shares',
  description:
    'Makes a root token when enough holders of key shares agree. Start with -init, which prints a one-time password; give the shares one by one; decode the result with -decode and -otp.',
  args: ['[KEY]'],
  flags: {
    init: flag.boolean('Start.'),
    cancel: flag.boolean('Stop, and forget the shares that came.'),
    status: flag.boolean('Print how far it is.'),
    'generate-otp': flag.boolean('Print a one-time password of the right length.'),
    otp: flag.text('One-time password, for -init or -decode.'),
    decode: flag.text('Decode this result with -otp. "-" reads it from standard input.', { placeholder: 'encoded' }),
    'pgp-key': flag.text('Public key file to encrypt the token with, instead of a one-time password.', { placeholder: 'file' }),
    nonce: flag.text(
      'Nonce that -init printed, for a share or for -cancel. Default: the one of the running operation, which only a token that may read it is shown.',
    ),
  },
  examples: [
    { text: 'Start:', command: 'operator generate-root -init' },
    { text: 'Give a share:', command: 'operator generate-root -nonce=0ea4f…' },
    { text: 'Decode the result:', command: 'operator generate-root -decode=Hi4cBQ0… -otp=X7cK2…' },
  ],
  async run({ args: [word], flags, io, out, client, ask }) {
    const readInput = async () => (await (await import('../input.ts')).readAll(io.stdin)).trim();
    if (flags.decode !== undefined) {
      if (flags.otp === undefined) throw new Failure('The one-time password is missing: give -otp=<string>');
      const token = decodeToken(flags.decode === '-' ? await readInput() : flags.decode, flags.otp);
      return out.format === 'table' ? out.line(token) : out.document({ token });
    }
    const family = await doing(
      'Error reading the state of root generation',
      chooseFamily(client(), 'sys/generate-root-token/', 'sys/generate-root/', 'attempt'),
    );
    if (flags.init) {
      const pgpKey = flags['pgp-key'] === undefined ? undefined : (await readPgpKeys([flags['pgp-key']]))?.[0];
      const body = { ...(flags.otp === undefined ? {} : { otp: flags.otp }), ...(pgpKey === undefined ? {} : { pgp_key: pgpKey }) };
      return showState(out, await doing('Error initializing root generation', family.call('PUT', 'attempt', body)));
    }
    if (flags.cancel) {
      await doing(
        'Error canceling root token generation',
        family.call('DELETE', 'attempt', undefined, flags.nonce === undefined ? undefined : { nonce: flags.nonce }),
      );
      return out.success('Root token generation canceled (if it was started)');
    }
    const state = await doing('Error getting root generation status', family.call('GET', 'attempt'));
    if (flags['generate-otp']) {
      const length = typeof state['otp_length'] === 'number' && state['otp_length'] > 0 ? state['otp_length'] : 26;
      return out.line(Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''));
    }
    if (flags.status) return showState(out, state);
    if (state['started'] !== true)
      throw new Failure('No root generation is in progress. Start it with "strongroom operator generate-root -init"');
    const nonce = flags.nonce ?? String(state['nonce'] ?? '');
    if (nonce === '')
      throw new Failure(
        'The nonce is missing: give -nonce=<string> as -init printed it, or a token that may read the state of the operation',
      );
    let key = word === '-' ? await readInput() : word;
    key ??= await ask(
      'Unseal Key (will be hidden): ',
      'The key share is missing: give it as an argument, or "-" to read it from standard input',
    );
    await showState(out, await doing('Error posting unseal key', family.call('PUT', 'update', { key, nonce })));
  },
});
