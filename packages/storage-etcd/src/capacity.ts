import type { Capacity, StorageLog } from '@strongroom/storage-sdk';
import type { StatusResponse } from './wire.ts';

/** etcd's own quota unless it is set. */
const QUOTA_BYTES = 2 * 2 ** 30;
const WARN_AT = 0.8;

/** How full etcd is, as the member says that is used. */
export class QuotaWatch {
  readonly #quota: number | undefined;
  readonly #log: StorageLog;
  #capacity: Capacity | undefined;
  #warned = '';

  constructor(quota: number | undefined, log: StorageLog) {
    this.#quota = quota;
    this.#log = log;
  }

  /** Undefined before the first look. */
  get capacity(): Capacity | undefined {
    return this.#capacity;
  }

  take({ dbSize, dbSizeQuota, errors }: StatusResponse): void {
    const usedBytes = Number(dbSize ?? 0);
    const told = Number(dbSizeQuota ?? 0);
    const limitBytes = this.#quota ?? (told > 0 ? told : QUOTA_BYTES);
    const alarms = [...new Set(errors.flatMap((error) => /alarm:(\w+)/.exec(error)?.[1] ?? []))];
    this.#capacity = { usedBytes, limitBytes, alarms };
    this.#warnOf(alarms, usedBytes / limitBytes);
  }

  /** Once for each state that it comes into. */
  #warnOf(alarms: readonly string[], share: number): void {
    const state = alarms.length > 0 ? alarms.join(', ') : share >= WARN_AT ? 'nearly full' : '';
    if (state === this.#warned) return;
    this.#warned = state;
    if (alarms.length > 0)
      this.#log.warn('etcd has raised an alarm', {
        alarms: state,
        remedy: 'NOSPACE: compact and defragment etcd, raise --quota-backend-bytes, then disarm the alarm; CORRUPT: replace the member',
      });
    else if (state !== '')
      this.#log.warn('etcd is nearly full, and takes no writes once its quota is used up', {
        percent: Math.round(share * 100),
        remedy: 'defragment its members, or raise --quota-backend-bytes',
      });
  }
}
