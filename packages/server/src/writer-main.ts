// Writes to a store of LMDB for the workers of a server: `writer-main <options of the driver as JSON>`.
import type { LmdbOptions } from '@strongroom/storage-lmdb';
import type { StorageLog } from '@strongroom/storage-sdk';
import { ignoreUserSignals } from './early-signals.ts';
import { explained } from './explained.ts';
import { quietStart } from './quiet-start.ts';
import { processChannel } from './workers/process-channel.ts';

/** Milliseconds between two signs of life. */
const BEAT = 1_000;

ignoreUserSignals();
const started = quietStart();
// The supervisor says when to stop: the workers have to end before. A signal may go to the whole process group.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('error', () => undefined);
process.on('disconnect', () => process.exit(0));
// The supervisor may have gone while this was loaded.
if (!process.connected) process.exit(0);
setInterval(() => processChannel.send({ kind: 'beat' }), BEAT);
try {
  const { lmdbStorage } = await import('@strongroom/storage-lmdb');
  const options = JSON.parse(process.argv[2] ?? '') as LmdbOptions;
  const log: StorageLog = {
    info: (message, fields) => processChannel.send({ kind: 'said', level: 'info', message, fields }),
    warn: (message, fields) => processChannel.send({ kind: 'said', level: 'warn', message, fields }),
  };
  const driver = await lmdbStorage({ ...options, shareTransactions: true, log });
  // Who listens sees that another store has taken the place of this one.
  driver.changes(() => undefined);
  processChannel.hear((message) => {
    if (message.kind === 'stop') void driver.close().finally(() => process.exit(0));
  });
  started();
} catch (error) {
  await processChannel.sent({ kind: 'failed', reason: explained(error) });
  process.exit(1);
}
