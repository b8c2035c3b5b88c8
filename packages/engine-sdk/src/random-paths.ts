import { Type, type Static } from 'typebox';
import type { EngineResponse } from './request.ts';
import { BadRequest } from './errors.ts';
import { f } from './field.ts';
import { path, type AnyPath } from './path.ts';

const MOST_BYTES = 128 * 1024;
const SOURCES = ['platform', 'seal', 'all'];

const RandomBytes = Type.Object({ random_bytes: Type.String({ secret: true }) });

/** `random` below a folder, with the source and the number in the path or not. `at`: where it is, such as `tools/random`. */
export function randomPaths(at: 'random' | 'tools/random', randomBytes: (count: number) => Uint8Array): AnyPath[] {
  const fields = {
    bytes: f.int('How many bytes.', { default: 32 }),
    format: f.string('How they are written: base64 or hex.', { default: 'base64' }),
    source: f.string('Where they come from: platform, seal or all.', { default: 'platform' }),
  };
  const about = {
    synopsis: 'Random bytes.',
    description: 'At most 131072 of them, written as base64 or hex. The source may stand in the path, before the number.',
  };

  function random(count: number, format: string, source: string): EngineResponse<Static<typeof RandomBytes>> {
    if (!SOURCES.includes(source))
      throw new BadRequest(`unsupported entropy source ${JSON.stringify(source)}; must be "platform", "seal" or "all"`);
    if (count < 1) throw new BadRequest("'bytes' cannot be less than 1");
    if (count > MOST_BYTES) throw new BadRequest(`'bytes' should be less than ${MOST_BYTES}`);
    if (format !== 'hex' && format !== 'base64')
      throw new BadRequest(`unsupported encoding format ${JSON.stringify(format)}; must be "hex" or "base64"`);
    const warnings =
      source === 'platform' ? {} : { warnings: ['the seal offers no randomness of its own; the bytes come from the platform'] };
    return { data: { random_bytes: Buffer.from(randomBytes(count)).toString(format) }, ...warnings };
  }

  return [
    path(at, { ...about, fields }).update({
      summary: 'Make random bytes',
      response: RandomBytes,
      handle: async ({ data }) => random(data.bytes, data.format, data.source),
    }),
    path(`${at}/{what:any}`, { ...about, fields: { ...fields, what: f.name('How many bytes, or where they come from.') } }).update({
      summary: 'Make random bytes of a number or a source',
      response: RandomBytes,
      handle: async ({ data }) =>
        SOURCES.includes(data.what) ? random(data.bytes, data.format, data.what) : random(byteCount(data.what), data.format, data.source),
    }),
    path(`${at}/{source:any}/{urlbytes:any}`, {
      ...about,
      fields: { ...fields, source: f.name('Where they come from: platform, seal or all.'), urlbytes: f.name('How many bytes.') },
    }).update({
      summary: 'Make random bytes of a source',
      response: RandomBytes,
      handle: async ({ data }) => random(byteCount(data.urlbytes), data.format, data.source),
    }),
  ];
}

function byteCount(text: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text))
    throw new BadRequest(`error parsing url-set byte count: ${JSON.stringify(text)} is not a whole number`);
  return Number(text);
}
