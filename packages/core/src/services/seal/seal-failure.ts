import { thrownText, Unavailable } from '@strongroom/engine-sdk';
import { isSealError, type SealError } from '@strongroom/seal-sdk';

/**
 * `wrong key`: another key wrapped what the store has. `wrong answer`: the seal opened something else than was wrapped. All but `wrong key` may be gone at the
 * next try.
 */
export const FAILURE_KINDS = ['unavailable', 'throttled', 'permission', 'wrong key', 'wrong answer'] as const;
export type SealFailureKind = (typeof FAILURE_KINDS)[number];

/** What everybody may know of each. */
const PUBLIC: Readonly<Record<SealFailureKind, string>> = {
  unavailable: 'cannot be reached',
  throttled: 'asks for a pause',
  permission: 'refuses permission',
  'wrong key': 'has a key that does not open this store',
  'wrong answer': 'opens something else than it has wrapped',
};

/** A call of a seal that did not succeed. The message is for everybody; `reason` says more, for the log. */
export class SealFailure extends Unavailable {
  /** The name of the seal. */
  readonly seal: string;
  readonly kind: SealFailureKind;
  readonly reason: string;
  /** Milliseconds that the service wants to be left in peace. */
  readonly pause: number | undefined;

  constructor(seal: string, error: unknown) {
    const kind = kindOf(error);
    super(`the seal ${JSON.stringify(seal)} ${PUBLIC[kind]}`, { cause: error });
    this.seal = seal;
    this.kind = kind;
    this.reason = thrownText(error);
    const seconds = isSealError(error, 'seal_throttled')
      ? (error as SealError & { retryAfterSeconds?: number }).retryAfterSeconds
      : undefined;
    this.pause = seconds === undefined ? undefined : seconds * 1_000;
  }
}

/** A seal opened something else than it had wrapped. */
export class WrongAnswer extends Error {
  constructor() {
    super('it opened something else than it had wrapped');
  }
}

function kindOf(error: unknown): SealFailureKind {
  if (error instanceof WrongAnswer) return 'wrong answer';
  if (isSealError(error, 'seal_throttled')) return 'throttled';
  if (isSealError(error, 'seal_permission_denied')) return 'permission';
  return isSealError(error, 'seal_wrong_key') ? 'wrong key' : 'unavailable';
}
