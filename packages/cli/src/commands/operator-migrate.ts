import { defineCommand } from '../command.ts';
import { EXIT, Failure } from '../failure.ts';
import { flag } from '../flag.ts';
import { loadServer } from '../load-server.ts';

export const migrate = defineCommand({
  name: 'migrate',
  synopsis: 'Copy a store into another storage',
  description:
    'Copies the store of the block storage_source into the empty storage of the block storage_destination, and compares both. Stop the servers first. While it runs, no server opens the source. The destination is empty until everything is there, so a migration that was killed starts again.',
  args: [],
  local: true,
  flags: {
    config: flag.list('File with both blocks, HCL or JSON.', { placeholder: 'path' }),
    reset: flag.boolean('Only remove the lock of a migration that was killed.'),
    'max-parallel': flag.text('Accepted for scripts of OpenBao; has no effect.', { placeholder: 'number' }),
    'log-level': flag.text('Accepted for scripts of OpenBao; has no effect.', { placeholder: 'level' }),
  },
  examples: [{ text: 'Move to PostgreSQL:', command: 'operator migrate -config=migrate.hcl' }],
  async run({ flags, io, out }) {
    const config = flags.config ?? [];
    if (config.length === 0) throw new Failure('-config is required: a file with storage_source and storage_destination');
    const { runMigration } = await loadServer(io);
    try {
      await runMigration!({ config, reset: flags.reset === true, say: (text) => out.line(text) });
    } catch (error) {
      throw new Failure(`Error migrating: ${(error as Error).message}`, EXIT.remote);
    }
    out.success(flags.reset ? 'The source can be opened again.' : 'The migration is complete.');
  },
});
