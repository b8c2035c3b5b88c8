import { COPY_ORIGIN, type EngineHost, type SecretSource, type Transaction } from '@strongroom/engine-sdk';
import { isGone } from './secret-record.ts';
import { findVersion } from './secret-store.ts';

/** The current versions, for engines that follow them. */
export function secretSource({ storage, clock }: Pick<EngineHost, 'storage' | 'clock'>): SecretSource {
  return {
    readPath: (name) => `data/${name}`,
    async read(name) {
      const found = await findVersion(storage, name, 0, (version) => !isGone(version, clock.now()));
      if (!found?.data) return undefined;
      const { version, deletion_time } = found.version;
      const origin = found.secret.custom_metadata?.[COPY_ORIGIN];
      return {
        ...{ version, data: found.data },
        ...(deletion_time === '' ? {} : { expiresAt: new Date(deletion_time) }),
        ...(origin === undefined ? {} : { origin }),
      };
    },
  };
}

/** Reports a change of a secret, once its transaction is committed. `version`: where it is of one version. */
export function reportSecret(tx: Pick<Transaction, 'report'>, change: 'written' | 'deleted', name: string, version?: number): void {
  const paths = [`data/${name}`, `metadata/${name}`];
  tx.report({ kind: `secret.${change}`, paths, name, ...(version === undefined ? {} : { version }) });
}

/** Makes a change of a secret in a transaction that notifies its subscribers. */
export async function changing<T>(
  storage: { transaction<R>(work: (tx: Transaction) => Promise<R>): Promise<R> },
  path: string,
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return storage.transaction(async (tx) => {
    const result = await change(tx);
    await tx.notifySubscribers(path);
    return result;
  });
}
