export { base32Of, bytesOfBase32 } from './base32.ts';
export { otpauthUrl } from './otpauth-url.ts';
export { qrCodePng } from './qr-code.ts';
export { matchingStep, stepAt, totpCode } from './totp.ts';
export { TotpParameters } from './totp-parameters.ts';
export { TriedCodes, withFailure, withUse } from './tried-codes.ts';
