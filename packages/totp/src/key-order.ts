import { BadRequest, type EngineHost } from '@strongroom/engine-sdk';
import { bytesOfBase32, type TotpParameters } from '@strongroom/otp';
import { otpauthSource } from './otpauth-source.ts';
import type { KeyRecord } from './records.ts';

const LARGEST_KEY = 256;
const LARGEST_PICTURE = 2_000;
const LONGEST_PERIOD = 86_400;
const LONGEST_NAME = 256;

/** What a write of a key says. */
export interface KeyOrder {
  readonly generate: boolean;
  readonly key_size: number;
  readonly url: string;
  readonly key: string;
  readonly issuer: string;
  readonly account_name: string;
  readonly period: number;
  readonly algorithm: string;
  readonly digits: number;
  readonly skew: number;
  readonly qr_size: number;
}

/** The record of a new key, with which nothing was tried yet. @throws BadRequest */
export function newKey(order: KeyOrder, host: Pick<EngineHost, 'randomBytes'>): KeyRecord {
  if (order.generate && order.key !== '') throw new BadRequest('a key should not be passed if generate is true');
  if (order.generate && order.url !== '') throw new BadRequest('a url should not be passed if generate is true');
  if (order.url !== '' && order.key !== '') throw new BadRequest('a key should not be passed with a url, which holds the key');
  const asked = order.url === '' ? order : { ...order, ...otpauthSource(order.url) };
  const parameters = parametersOf(asked);
  if (asked.skew !== 0 && asked.skew !== 1) throw new BadRequest('the skew value must be 0 or 1');
  sizes(asked);
  if (order.generate && asked.account_name === '') throw new BadRequest('the account_name value is required for generated keys');
  if (order.generate && asked.issuer === '') throw new BadRequest('the issuer value is required for generated keys');
  const key = order.generate ? Buffer.from(host.randomBytes(asked.key_size)) : importedKey(asked.key);
  const { issuer, account_name, skew } = asked;
  return { ...parameters, issuer, account_name, skew, key: key.toString('base64'), used_steps: [], failures: 0 };
}

function parametersOf({ period, algorithm, digits }: KeyOrder): TotpParameters {
  if (period <= 0) throw new BadRequest('the period value must be greater than zero');
  if (!Number.isInteger(period) || period > LONGEST_PERIOD) throw new BadRequest('the period value must be whole seconds, at most 24h');
  if (digits !== 6 && digits !== 8) throw new BadRequest('the digits value can only be 6 or 8');
  if (algorithm !== 'SHA1' && algorithm !== 'SHA256' && algorithm !== 'SHA512') {
    throw new BadRequest('the algorithm value is not valid: it can be SHA1, SHA256 or SHA512');
  }
  return { period, digits, algorithm };
}

function sizes({ qr_size, key_size, issuer, account_name }: KeyOrder): void {
  if (qr_size < 0) throw new BadRequest('the qr_size value must be greater than or equal to zero');
  if (qr_size > LARGEST_PICTURE) throw new BadRequest(`the qr_size value must be at most ${LARGEST_PICTURE} pixels`);
  if (key_size <= 0) throw new BadRequest('the key_size value must be greater than zero');
  if (key_size > LARGEST_KEY) throw new BadRequest(`the key_size value must be at most ${LARGEST_KEY} bytes`);
  for (const [name, text] of Object.entries({ issuer, account_name })) {
    if (Buffer.from(text).toString() !== text) throw new BadRequest(`the ${name} value is not valid Unicode`);
    if (encodedLength(text) > LONGEST_NAME)
      throw new BadRequest(`the ${name} value must be at most ${LONGEST_NAME} characters, percent-encoded`);
  }
}

function encodedLength(text: string): number {
  return encodeURIComponent(Buffer.from(text).toString()).length;
}

function importedKey(text: string): Buffer {
  if (text === '') throw new BadRequest('the key value is required');
  const bytes = bytesOfBase32(text);
  if (typeof bytes === 'number') throw new BadRequest(`invalid key value: illegal base32 data at input byte ${bytes}`);
  if (bytes.length === 0 || bytes.length > LARGEST_KEY) throw new BadRequest(`invalid key value: it must hold 1 to ${LARGEST_KEY} bytes`);
  return bytes;
}
