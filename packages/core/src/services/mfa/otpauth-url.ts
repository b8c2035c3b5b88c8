import type { TotpParameters } from '../identity/mfa-secrets.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** What an authenticator reads from a QR code: the secret of one account and how its codes are made. */
export function otpauthUrl(account: TotpParameters & { readonly issuer: string; readonly name: string; readonly key: Uint8Array }): string {
  const issuer = encodeURIComponent(account.issuer);
  const parameters = [
    `algorithm=${account.algorithm}`,
    `digits=${account.digits}`,
    `issuer=${issuer}`,
    `period=${account.period}`,
    `secret=${base32(account.key)}`,
  ];
  return `otpauth://totp/${issuer}:${encodeURIComponent(account.name)}?${parameters.join('&')}`;
}

/** RFC 4648, without padding, which authenticators do not expect. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31]!;
    }
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31]! : text;
}
