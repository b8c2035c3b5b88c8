import { f } from '@strongroom/engine-sdk';
import { separateKeys } from '../../services/ceremony/pgp-keys.ts';
import type { ShareOrder } from '../../services/ceremony/rekeying.ts';

/** What new shares are asked for with. */
export const orderFields = {
  secret_shares: f.int('Into how many shares.'),
  secret_threshold: f.int('How many are needed.'),
  stored_shares: f.int('Accepted for older clients.', { deprecated: true }),
  pgp_keys: f.strings(
    'Public PGP keys, one for each share, in the order of the shares: base64 of the binary key, or armored. The shares are answered encrypted to them.',
  ),
  backup: f.bool('Keep a copy of the encrypted shares in the store. Needs pgp_keys.'),
  require_verification: f.bool('The new shares count only when enough of them were given once.'),
};

interface OrderData {
  readonly secret_shares?: number | undefined;
  readonly secret_threshold?: number | undefined;
  readonly pgp_keys?: readonly string[] | undefined;
  readonly backup?: boolean | undefined;
  readonly require_verification?: boolean | undefined;
}

export function orderOf(data: OrderData): ShareOrder {
  return {
    shares: data.secret_shares ?? 0,
    threshold: data.secret_threshold ?? 0,
    pgpKeys: separateKeys(data.pgp_keys),
    backup: data.backup === true,
    verification: data.require_verification === true,
  };
}
