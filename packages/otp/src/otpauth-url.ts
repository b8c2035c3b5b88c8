import { base32Of } from './base32.ts';
import type { TotpParameters } from './totp-parameters.ts';

/** What an authenticator reads from a QR code: the secret of one account and how its codes are made. */
export function otpauthUrl(account: TotpParameters & { readonly issuer: string; readonly name: string; readonly key: Uint8Array }): string {
  const issuer = encodeURIComponent(account.issuer);
  const parameters = [
    `algorithm=${account.algorithm}`,
    `digits=${account.digits}`,
    `issuer=${issuer}`,
    `period=${account.period}`,
    `secret=${base32Of(account.key)}`,
  ];
  return `otpauth://totp/${issuer}:${encodeURIComponent(account.name)}?${parameters.join('&')}`;
}
