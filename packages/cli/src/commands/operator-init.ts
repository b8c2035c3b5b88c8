import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import type { JsonRecord } from '../json.ts';
import type { Output } from '../output.ts';
import { readPgpKeys } from './pgp-keys.ts';

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

async function showInit(out: Output, reply: JsonRecord, shares: number, threshold: number): Promise<void> {
  const document = {
    unseal_keys_b64: texts(reply['keys_base64']),
    unseal_keys_hex: texts(reply['keys']),
    unseal_shares: shares,
    unseal_threshold: threshold,
    recovery_keys_b64: texts(reply['recovery_keys_base64']),
    recovery_keys_hex: texts(reply['recovery_keys']),
    root_token: reply['root_token'],
  };
  if (!out.plain) return out.field === undefined ? out.document(document) : out.pick(document, out.field);
  document.unseal_keys_b64.forEach((key, index) => out.line(`Unseal Key ${index + 1}: ${key}`));
  document.recovery_keys_b64.forEach((key, index) => out.line(`Recovery Key ${index + 1}: ${key}`));
  out.line(`\nInitial Root Token: ${String(reply['root_token'])}\n`);
  if (document.unseal_keys_b64.length === 0) {
    out.line(
      shares === 0
        ? 'The server is initialized, and has no recovery keys yet. "strongroom operator rekey -init -target=recovery" makes the first ones.'
        : `Success! The server is initialized\n\nRecovery keys: ${shares}, of which ${threshold} are needed. Hand them to different people.`,
    );
    return;
  }
  out.line(
    [
      `The server is initialized with ${shares} key shares and a key threshold of ${threshold}. Hand the`,
      'key shares above to different people. When the server is sealed or restarted,',
      `at least ${threshold} of them are needed to unseal it; without them, its data cannot be read.`,
      '',
      'The root key itself is not stored anywhere. "strongroom operator rekey" makes new',
      'shares, if enough of the old ones are known.',
    ].join('\n'),
  );
}

interface ShareFlags {
  readonly 'key-shares': number | undefined;
  readonly 'key-threshold': number | undefined;
  readonly 'pgp-keys': readonly string[];
  readonly 'recovery-shares': number | undefined;
  readonly 'recovery-threshold': number | undefined;
  readonly 'recovery-pgp-keys': readonly string[];
}

/** @throws Failure for flags of the other kind of seal: to ignore keys would print in clear what was to be encrypted */
function requireFitting(recovery: boolean, flags: ShareFlags): void {
  const unseal = flags['key-shares'] ?? flags['key-threshold'] ?? flags['pgp-keys'][0];
  const recover = flags['recovery-shares'] ?? flags['recovery-threshold'] ?? flags['recovery-pgp-keys'][0];
  if (recovery && unseal !== undefined) {
    throw new Failure(
      'This server keeps its key in its seal: give -recovery-shares, -recovery-threshold and -recovery-pgp-keys instead of -key-shares, -key-threshold and -pgp-keys',
    );
  }
  if (!recovery && recover !== undefined) {
    throw new Failure(
      'This server has no seal that keeps its key: give -key-shares, -key-threshold and -pgp-keys instead of -recovery-shares, -recovery-threshold and -recovery-pgp-keys',
    );
  }
}

export const init = defineCommand({
  name: 'init',
  synopsis: 'Initialize a server',
  description: 'Makes the keys of a new server and prints them with its first root token. They are shown this once.',
  args: [],
  flags: {
    'key-shares': flag.integer('Into how many shares the key is split. Default: 5.', { aliases: ['n'] }),
    'key-threshold': flag.integer('How many shares unseal the server. Default: 3.', { aliases: ['t'] }),
    'pgp-keys': flag.list('Public key files, comma list, to encrypt the shares with.', { placeholder: 'files' }),
    'root-token-pgp-key': flag.text('Public key file to encrypt the root token with.', { placeholder: 'file' }),
    'recovery-shares': flag.integer('As -key-shares, where the seal keeps the key itself; 0: they are made later. Default: 5.'),
    'recovery-threshold': flag.integer('As -key-threshold, where the seal keeps the key itself. Default: 3.'),
    'recovery-pgp-keys': flag.list('As -pgp-keys, for the recovery keys.', { placeholder: 'files' }),
    status: flag.boolean('Only say whether the server is initialized: exit code 0 if it is, 2 if not.'),
  },
  examples: [
    { text: 'Five shares, of which three unseal:', command: 'operator init' },
    { text: 'One share, for a try:', command: 'operator init -key-shares=1 -key-threshold=1 -format=json' },
  ],
  async run({ flags, out, client }) {
    const api = client();
    if (flags.status) {
      const { initialized } = await doing('Error checking initialization status', api.record('GET', 'sys/init', { unwrapped: true }));
      if (out.plain) out.line(initialized === true ? 'The server is initialized' : 'The server is not initialized');
      else await out.document({ initialized: initialized === true });
      return initialized === true ? EXIT.ok : EXIT.remote;
    }
    const seal = await doing('Error checking seal status', api.record('GET', 'sys/seal-status', { preflight: true }));
    const recovery = seal['recovery_seal'] === true;
    const shares = (recovery ? flags['recovery-shares'] : flags['key-shares']) ?? 5;
    const threshold = (recovery ? flags['recovery-threshold'] : flags['key-threshold']) ?? (recovery && shares === 0 ? 0 : 3);
    requireFitting(recovery, flags);
    const rootKey = flags['root-token-pgp-key'] === undefined ? undefined : (await readPgpKeys([flags['root-token-pgp-key']]))?.[0];
    const pgpKeys = await readPgpKeys(recovery ? flags['recovery-pgp-keys'] : flags['pgp-keys']);
    const body = recovery
      ? { recovery_shares: shares, recovery_threshold: threshold, recovery_pgp_keys: pgpKeys, root_token_pgp_key: rootKey }
      : { secret_shares: shares, secret_threshold: threshold, pgp_keys: pgpKeys, root_token_pgp_key: rootKey };
    await showInit(out, await doing('Error initializing', api.record('PUT', 'sys/init', { body, unwrapped: true })), shares, threshold);
    return EXIT.ok;
  },
});
