import { sign, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { rsaKeyPair } from '../src/rsa-keys.ts';

test('no key that a test draws is one that it has drawn before', () => {
  const keys = Array.from({ length: 3 }, () => rsaKeyPair().publicKey.export({ type: 'spki', format: 'pem' }));
  expect(new Set(keys).size).toBe(3);
});

test('a key has 2048 bits, and its two parts belong together', () => {
  const { privateKey, publicKey } = rsaKeyPair();
  expect(publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2_048 });
  const text = Buffer.from('signed');
  expect(verify('sha256', text, publicKey, sign('sha256', text, privateKey))).toBe(true);
});
