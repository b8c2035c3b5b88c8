import { Refusal, UnsupportedOperation } from '@strongroom/engine-sdk';
import type { TokenlessCeremony } from '../../kernel/call/core-request.ts';
import { internalOf } from '../../services/caller/internal-request.ts';

/** What operations behind this gate answer besides, for their declarations. */
export const gatedAnswers = { 405: Refusal };

/** @throws UnsupportedOperation where the listener does not let callers without a token take part in this ceremony */
export function requireTokenless(req: object, ceremony: TokenlessCeremony): void {
  if (!internalOf(req).request.tokenless?.includes(ceremony)) throw new NotHere();
}

/** In the plain form, as a path without the operation says it. */
class NotHere extends UnsupportedOperation {
  override readonly form = 'plain' as const;
}
