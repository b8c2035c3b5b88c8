import { BadRequest, f, path, type AnyPath, type EngineResponse } from '@strongroom/engine-sdk';
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { hashOf } from '../crypto/hashes.ts';
import { decoded } from './batch.ts';

const Sum = Type.Object({ sum: Type.String() });

/** `hash`, with the algorithm in the path or not. */
export function hashPaths(): AnyPath[] {
  const about = { synopsis: 'Hashes data.', description: 'No key takes part.' };
  const fields = {
    input: f.string('Base64 of the data.'),
    algorithm: f.string('sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384 or sha3-512.', { default: 'sha2-256' }),
    format: f.string('hex or base64.', { default: 'hex' }),
  };
  const op = { summary: 'Hashes data.', response: Sum };
  return [
    path('hash', { ...about, fields }).update({ ...op, handle: async ({ data }) => sumOf(data, data.algorithm) }),
    path('hash/{urlalgorithm}', { ...about, fields: { ...fields, urlalgorithm: f.name('The algorithm.') } }).update({
      ...op,
      handle: async ({ data }) => sumOf(data, data.urlalgorithm),
    }),
  ];
}

function sumOf(data: { readonly input?: string | undefined; readonly format: string }, algorithm: string): EngineResponse<{ sum: string }> {
  if (data.input === undefined) throw new BadRequest('input missing');
  const input = decoded(data.input, (fault) => `unable to decode input as base64: ${fault}`);
  if (data.format !== 'hex' && data.format !== 'base64')
    throw new BadRequest(`unsupported encoding format ${data.format}; must be "hex" or "base64"`);
  const hash = hashOf(algorithm);
  if (!hash || algorithm === 'sha1') throw new BadRequest(`unsupported algorithm ${algorithm}`);
  return { data: { sum: createHash(hash.node).update(input).digest(data.format) } };
}
