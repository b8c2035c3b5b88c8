import { shareOf, type Siblings } from '@strongroom/core';
import type { Configuration, StorageChoice } from '../config/configuration.ts';
import type { WorkerPlace } from './worker-siblings.ts';

/**
 * The configuration that the other workers have: one that is started later must not read files that were changed meanwhile. Undefined where there are none. The environment is not
 * sent: every worker has the same.
 */
export async function sharedConfiguration(siblings: Siblings): Promise<Configuration | undefined> {
  const [found] = await siblings.ask<Configuration>('configuration');
  return found && { ...found, seals: found.seals.map((seal) => ({ ...seal, env: process.env })) };
}

/** What a worker answers to that question. */
sharedConfiguration.of = (configuration: Configuration): Configuration => ({
  ...configuration,
  seals: configuration.seals.map((seal) => ({ ...seal, env: {} })),
});

/** One worker's part of the configuration: its share of the pools, without what the supervisor does. */
export function workerConfiguration(whole: Configuration, { configured, number }: WorkerPlace): Configuration {
  const { pidFile: _, storage, ...others } = whole;
  const share = (limit: number): number => shareOf(limit, { of: configured, rank: number - 1 });
  return {
    ...others,
    notices: [],
    storage: storageOf(storage, share),
  };
}

function storageOf(storage: StorageChoice, share: (limit: number) => number): StorageChoice {
  switch (storage.type) {
    case 'postgresql':
      return { ...storage, poolSize: share(storage.poolSize ?? POOL) };
    case 'lmdb':
      return { ...storage, shareTransactions: 'send' };
    default:
      return storage;
  }
}

/** Connections to PostgreSQL by default. */
const POOL = 10;
