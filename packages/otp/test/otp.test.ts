import { describe, expect, test } from '@jest/globals';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { base32Of, bytesOfBase32, matchingStep, otpauthUrl, qrCodePng, stepAt, totpCode } from '../src/index.ts';

const digits = (length: number): Buffer => Buffer.from('1234567890'.repeat(7).slice(0, length));
const KEYS = { SHA1: digits(20), SHA256: digits(32), SHA512: digits(64) };

describe('codes by time', () => {
  // RFC 6238, appendix B.
  test.each([
    [59, '94287082', '46119246', '90693936'],
    [1_111_111_109, '07081804', '68084774', '25091201'],
    [1_111_111_111, '14050471', '67062674', '99943326'],
    [1_234_567_890, '89005924', '91819424', '93441116'],
    [2_000_000_000, '69279037', '90698825', '38618901'],
    [20_000_000_000, '65353130', '77737706', '47863826'],
  ])('are those of RFC 6238 at %i seconds', (seconds, sha1, sha256, sha512) => {
    const step = stepAt(seconds * 1_000, { period: 30 });
    expect(totpCode(KEYS.SHA1, step, { algorithm: 'SHA1', digits: 8 })).toBe(sha1);
    expect(totpCode(KEYS.SHA256, step, { algorithm: 'SHA256', digits: 8 })).toBe(sha256);
    expect(totpCode(KEYS.SHA512, step, { algorithm: 'SHA512', digits: 8 })).toBe(sha512);
    expect(totpCode(KEYS.SHA1, step, { algorithm: 'SHA1', digits: 6 })).toBe(sha1.slice(2));
  });

  test('match the step they are of, within the skew and not beyond', () => {
    const parameters = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
    const millis = 1_700_000_000_000;
    const now = stepAt(millis, parameters);
    const match = (step: number, skew: number): number | undefined =>
      matchingStep(KEYS.SHA1, totpCode(KEYS.SHA1, step, parameters), { ...parameters, millis, skew });
    expect([-2, -1, 0, 1, 2].map((off) => match(now + off, 1))).toEqual([undefined, now - 1, now, now + 1, undefined]);
    expect([-1, 0, 1].map((off) => match(now + off, 0))).toEqual([undefined, now, undefined]);
  });

  test.each(['', '0', '12345', '1234567', 'abcdef', '١٢٣٤٥٦', '123456 '])('%j is the code of no step', (code) => {
    expect(matchingStep(KEYS.SHA1, code, { algorithm: 'SHA1', digits: 6, period: 30, millis: 0, skew: 1 })).toBeUndefined();
  });
});

describe('what an authenticator scans', () => {
  const account = { algorithm: 'SHA256', digits: 8, period: 60 } as const;

  test('is a URL with issuer, account and secret', () => {
    const url = otpauthUrl({ ...account, issuer: 'Acme & Söhne: Test', name: 'e1', key: Buffer.from('Hello!\xde\xad\xbe\xef', 'latin1') });
    expect(url).toBe(
      'otpauth://totp/Acme%20%26%20S%C3%B6hne%3A%20Test:e1?algorithm=SHA256&digits=8&issuer=Acme%20%26%20S%C3%B6hne%3A%20Test&period=60&secret=JBSWY3DPEHPK3PXP',
    );
    expect(new URL(url).searchParams.get('issuer')).toBe('Acme & Söhne: Test');
  });

  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('writes the secret %j in base32', (key, secret) => {
    expect(otpauthUrl({ ...account, issuer: 'i', name: 'n', key: Buffer.from(key) }).split('secret=')[1]).toBe(secret);
  });

  test.each([100, 200, 333])('is a picture of %i pixels that a reader of QR codes understands', (pixels) => {
    const url = otpauthUrl({ ...account, issuer: 'Example', name: '1ae4b735-9694-dd25-6532-f9361e4e67e5', key: digits(20) });
    const { data, width, height } = PNG.sync.read(qrCodePng(url, pixels));
    expect([width, height]).toEqual([pixels, pixels]);
    const read = jsqr as unknown as (pixels: Uint8ClampedArray, width: number, height: number) => { data: string } | null;
    expect(read(new Uint8ClampedArray(data), width, height)?.data).toBe(url);
  });

  test('is as large as it must be where fewer pixels are asked for', () => {
    const { width } = PNG.sync.read(qrCodePng('otpauth://totp/x', 1));
    expect(width).toBeGreaterThan(20);
  });
});

describe('base32', () => {
  test('reads back what it wrote, in either case', () => {
    for (let length = 1; length < 40; length += 1) {
      const bytes = digits(length);
      expect(bytesOfBase32(base32Of(bytes))).toEqual(bytes);
      expect(bytesOfBase32(`${base32Of(bytes).toLowerCase()}===`)).toEqual(bytes);
    }
  });

  test('names the place of what it does not know', () => {
    expect(['HX M', '1', 'MY!', 'A'].map(bytesOfBase32)).toEqual([2, 0, 2, 1]);
  });
});
