import { createHash } from 'node:crypto';
import { BadRequest, f, path, randomPaths, type AnyPath, type EngineResponse } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const PADDING = 0x3d;

const algorithms: Readonly<Record<string, string>> = {
  'sha2-224': 'sha224',
  'sha2-256': 'sha256',
  'sha2-384': 'sha384',
  'sha2-512': 'sha512',
  'sha3-224': 'sha3-224',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
};

const Digest = Type.Object({ sum: Type.String() });

/** `sys/tools/random` and `sys/tools/hash`. */
export function toolPaths({ randomBytes }: { randomBytes(count: number): Uint8Array }): AnyPath[] {
  const hashFields = {
    input: f.secret('What is digested, in base64.', { default: '' }),
    algorithm: f.string(`One of ${Object.keys(algorithms).join(', ')}.`, { default: 'sha2-256' }),
    format: f.string('How the digest is written: hex or base64.', { default: 'hex' }),
  };

  return [
    ...randomPaths('tools/random', randomBytes),
    path('tools/hash', {
      synopsis: 'The digest of data.',
      description: 'Takes base64.',
      fields: hashFields,
    }).update({ summary: 'Digest data', response: Digest, handle: async ({ data }) => digest(data.input, data.algorithm, data.format) }),
    path('tools/hash/{urlalgorithm:any}', {
      synopsis: 'The digest of data by one algorithm.',
      description: 'Takes base64.',
      fields: { ...hashFields, urlalgorithm: f.name(`One of ${Object.keys(algorithms).join(', ')}.`) },
    }).update({
      summary: 'Digest data by one algorithm',
      response: Digest,
      handle: async ({ data }) => digest(data.input, data.urlalgorithm, data.format),
    }),
  ];
}

function digest(input: string, algorithm: string, format: string): EngineResponse<Static<typeof Digest>> {
  const encoding = textEncoding(format);
  const name = Object.hasOwn(algorithms, algorithm) ? algorithms[algorithm] : undefined;
  if (name === undefined)
    throw new BadRequest(`unsupported algorithm ${JSON.stringify(algorithm)}; must be one of ${Object.keys(algorithms).join(', ')}`);
  return { data: { sum: createHash(name).update(fromBase64(input)).digest(encoding) } };
}

function textEncoding(format: string): 'hex' | 'base64' {
  if (format !== 'hex' && format !== 'base64')
    throw new BadRequest(`unsupported encoding format ${JSON.stringify(format)}; must be "hex" or "base64"`);
  return format;
}

/** Strict: Node's decoder skips what it does not know. @throws BadRequest with the position of the first fault, as Go counts it. */
function fromBase64(text: string): Buffer {
  const fault = base64Fault(text);
  if (fault !== undefined) throw new BadRequest(`unable to decode input as base64: illegal base64 data at input byte ${fault}`);
  return Buffer.from(text, 'base64');
}

const base64Bytes = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')) base64Bytes[byte] = 1;

function base64Fault(text: string): number | undefined {
  const bytes = Buffer.from(text);
  let filled = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) continue;
    if (byte === PADDING) return paddingFault(bytes, at, filled);
    if (base64Bytes[byte] === 0) return at;
    filled = (filled + 1) % 4;
  }
  return filled === 0 ? undefined : bytes.length - filled;
}

/** `at` is the first padding character, `filled` how many characters of its group came before. */
function paddingFault(bytes: Uint8Array, at: number, filled: number): number | undefined {
  if (filled < 2) return at;
  const second = filled === 2 ? next(bytes, at + 1) : at;
  if (second === undefined) return bytes.length;
  if (bytes[second] !== PADDING) return second - 1;
  return next(bytes, second + 1);
}

/** The first byte from here on that is no line end. */
function next(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at < bytes.length; at++) if (bytes[at] !== LINE_FEED && bytes[at] !== CARRIAGE_RETURN) return at;
  return undefined;
}
