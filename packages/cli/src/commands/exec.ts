import { defineCommand } from '../command.ts';
import type { ApiClient } from '../client.ts';
import type { Environment } from '../environment.ts';
import { Failure } from '../failure.ts';
import { flag } from '../flag.ts';
import { startChild } from '../exec/child.ts';
import { Ending } from '../exec/ending.ts';
import { type Lease, readSecrets } from '../exec/reading.ts';
import { keepLease, keepToken } from '../exec/renewal.ts';
import { parseWantedSecret } from '../exec/wanted-secret.ts';

/** Of the environment of this process, what the command does not get. */
const OWN_TOKEN = ['STRONGROOM_TOKEN', 'BAO_TOKEN', 'VAULT_TOKEN'];

/** Leases of fewer seconds are not asked for again at once. */
const SHORT = 10;
/** Seconds before a restart after such a lease. */
const PAUSE = 5;

export default defineCommand({
  name: 'exec',
  synopsis: 'Run a command with secrets in its environment',
  description:
    'Reads secrets, sets their fields as environment variables, and runs a command. While it runs, leases and the token are renewed; when it ends, the leases are revoked. Signals are passed on, and the exit code is that of the command. Nothing is written to disk.',
  args: ['COMMAND', '[ARGUMENT...]'],
  flags: {
    secret: flag.list(
      'What to read: PATH sets a variable for each field, PATH#field for one, and NAME=PATH#field names the variable. Repeatable.',
      { placeholder: 'path' },
    ),
    prefix: flag.text('Begin the names of variables with this, except those that -secret names.', { placeholder: 'text' }),
    'on-expiry': flag.text(
      'What happens when a lease ends while the command runs: print a warning, restart the command with new secrets, or stop it. Default: warn.',
      { choices: ['warn', 'restart', 'stop'] },
    ),
    grace: flag.duration('How long the command has to end after SIGTERM, before it is killed. Default: 30s.'),
    'keep-leases': flag.boolean('Leave the leases to run out after the command has ended.'),
    'pass-token': flag.boolean("Leave STRONGROOM_TOKEN, BAO_TOKEN and VAULT_TOKEN in the command's environment."),
  },
  examples: [
    { text: 'A program with the fields of a secret:', command: 'exec -secret=secret/app -- ./app --port=8080' },
    {
      text: 'Credentials of a database, made for this run and revoked after it:',
      command: 'exec -secret=PGUSER=database/creds/app#username -secret=PGPASSWORD=database/creds/app#password -- psql -h db orders',
    },
  ],
  async run({ args: [command = '', ...words], flags, io, out, sleep, client }) {
    if (flags.secret.length === 0) throw new Failure('Nothing to read: give at least one -secret=PATH');
    if (flags.grace !== undefined && flags.grace < 0) throw new Failure('-grace cannot be negative');
    const wanted = flags.secret.map(parseWantedSecret);
    const onExpiry = flags['on-expiry'] ?? 'warn';
    const api = client();
    const warn = (text: string): void => out.warn(text);
    const release = (leases: readonly Lease[]): Promise<void> => (flags['keep-leases'] ? Promise.resolve() : revoke(api, leases, warn));
    const base = environmentOf(io.env, flags['pass-token']);

    const ending = new Ending();
    try {
      for (;;) {
        const { variables, leases } = await readSecrets(api, wanted, flags.prefix ?? '', release);
        if (ending.code !== undefined) {
          await release(leases);
          return ending.code;
        }
        const over = new AbortController();
        const child = startChild(command, words, { ...base, ...variables }, io.isTty);
        ending.running = true;
        const parts = { client: api, sleep, warn, signal: over.signal };
        const ended = new Promise<'lease' | 'token'>((resolve) => {
          for (const lease of leases) {
            void keepLease(lease, parts).then(() => {
              if (over.signal.aborted) return;
              warn(`The lease of ${lease.path} ends.`);
              resolve('lease');
            });
          }
          void keepToken(parts).then((how) => {
            if (how === 'endless' || over.signal.aborted) return;
            warn('The token ends, and with it every lease that was issued to it.');
            resolve('token');
          });
        });
        try {
          const first = await Promise.race([child.exit, ...(onExpiry === 'warn' ? [] : [ended])]);
          if (typeof first === 'number') return first;
          await child.stop(flags.grace ?? 30);
          // With a token that has ended nothing can be read again.
          if (onExpiry === 'stop' || first === 'token' || ending.code !== undefined) return await child.exit;
          warn(`Restarting "${command}" with new secrets.`);
        } finally {
          ending.running = false;
          over.abort();
          await release(leases);
        }
        // Leases so short would be asked for over and over.
        if (leases.some(({ seconds }) => seconds < SHORT)) await sleep(PAUSE * 1_000);
      }
    } finally {
      ending.close();
    }
  },
});

function environmentOf(env: Environment, passToken: boolean): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && (passToken || !OWN_TOKEN.includes(name)));
  return Object.fromEntries(kept) as Record<string, string>;
}

async function revoke(client: ApiClient, leases: readonly Lease[], warn: (text: string) => void): Promise<void> {
  for (const lease of leases) {
    try {
      await client.write('sys/leases/revoke', { lease_id: lease.id });
    } catch (error) {
      warn(`The lease of ${lease.path} could not be revoked and runs out by itself: ${(error as Error).message}`);
    }
  }
}
