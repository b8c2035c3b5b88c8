import { BadRequest, type Collection } from '@strongroom/engine-sdk';
import type { RotationState } from './rotation-state.ts';

/** Records that are read at a time. */
const PAGE = 64;

/** The id of a record, of those that count, with a credential that a rotation may log in with; undefined where none has one. By default all count. */
export async function holderIn<R extends RotationState<unknown>>(
  records: Pick<Collection<R>, 'entries'>,
  counts: (record: R) => boolean = () => true,
): Promise<string | undefined> {
  let after: string | undefined;
  for (;;) {
    const page = await records.entries({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    const found = page.find(([, record]) => (record.current ?? record.pending ?? record.shelved) !== undefined && counts(record));
    if (found || page.length < PAGE) return found?.[0];
    after = page.at(-1)![0];
  }
}

/** A write of settings by which rotations reach the accounts whose passwords a mount stores. */
export interface HeldPasswords {
  /** Fields whose new value sends passwords to another place, or sends them less safely. Empty if there are none. */
  readonly changed: readonly string[];
  /** Resolves with the name of one whose password is stored, such as `static role "app"`. Asked only where it matters. */
  holder(): Promise<string | undefined>;
  /** `req.caller.sudo` */
  readonly sudo: boolean;
}

/**
 * A rotation whose outcome is open logs in with the password that an account had before, wherever the settings lead by then. A caller who may write
 * the settings does not know these passwords, so that none can be sent again, and must not learn them. @throws BadRequest
 */
export async function requireSudoForPasswords({ changed, holder, sudo }: HeldPasswords): Promise<void> {
  if (sudo || changed.length === 0) return;
  const found = await holder();
  if (found === undefined) return;
  throw new BadRequest(
    `${changed.join(', ')}: a new value sends the stored passwords of accounts, such as that of the ${found}, to another address; use a token whose policy grants sudo on this path, or another mount`,
  );
}

/** A write of settings by which a rotation reaches the account that a mount itself logs in with. */
export interface OpenRotation {
  readonly changed: readonly string[];
  /** Whether the outcome of a rotation is still open with the settings to be stored. */
  readonly open: boolean;
  /** The field that the rotation changes. */
  readonly secret: string;
  readonly sudo: boolean;
}

/**
 * What a rotation has made may be the password by now, and a login finds that out: where its outcome is open, it stays at its address, although the
 * caller sends a password. @throws BadRequest
 */
export function requireSettledRotation({ changed, open, secret, sudo }: OpenRotation): void {
  if (sudo || changed.length === 0 || !open) return;
  throw new BadRequest(
    `${changed.join(', ')}: a rotation of ${secret} is not finished, and a new value would send its new password to another address; wait until root_rotation is idle, or use a token whose policy grants sudo on this path`,
  );
}
