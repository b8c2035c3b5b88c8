import { isPlainJson, readJson } from '@strongroom/engine-sdk';
import type { JsonObject } from '../json/json-pointer.ts';
import { ALGORITHMS, isAlgorithm } from '../keys/algorithms.ts';
import type { KeyHint } from '../keys/verification-key.ts';
import { signatureRefused } from './token-refused.ts';

/** Characters. No issuer makes longer ones, and a header of HTTP could not carry them. */
const LONGEST = 65_536;
const LIMITS = { maxDepth: 32, maxStrings: 10_000, maxValues: 10_000 };

/** What the header of a JWT in compact form says, before anything is proven. @throws BadRequest for what is no signed JWT */
export function headerOf(token: string): KeyHint {
  if (token.length > LONGEST) throw malformed(`longer than ${LONGEST} characters`);
  const parts = token.split('.');
  if (parts.length !== 3) throw malformed('compact JWS format must have three parts');
  const header = jsonIn(Buffer.from(parts[0]!, 'base64url'), 'the header');
  const { alg, kid, crit } = header;
  if (typeof alg !== 'string' || !isAlgorithm(alg)) {
    throw malformed(
      `unexpected signature algorithm ${JSON.stringify(alg ?? '')}; expected [${ALGORITHMS.map((name) => `"${name}"`).join(' ')}]`,
    );
  }
  if (crit !== undefined) throw malformed('its header has extensions that are unknown here');
  return { alg, kid: typeof kid === 'string' && kid !== '' ? kid : undefined };
}

/** The claims of a token, with exact numbers. @throws BadRequest */
export function claimsIn(payload: Uint8Array): JsonObject {
  return jsonIn(Buffer.from(payload), 'the payload');
}

function jsonIn(bytes: Buffer, part: string): JsonObject {
  let value: unknown;
  try {
    const text = bytes.toString();
    value = JSON.parse(text);
    if (!isPlainJson(text, LIMITS)) value = readJson(bytes, LIMITS);
  } catch {
    throw malformed(`${part} is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`${part} is not an object`);
  return value as JsonObject;
}

function malformed(what: string): Error {
  return signatureRefused(`oidc: malformed jwt: ${what}`);
}
