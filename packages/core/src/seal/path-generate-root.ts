import { BadRequest, f, path, type AnyPath, type EngineResponse } from '@strongroom/engine-sdk';
import { randomBase62 } from '../tokens/token-id.ts';
import { parseShare, type Seal } from './seal.ts';
import { ShareCollection } from './share-collection.ts';

/** Length of a service token: `s.` and 24 characters. */
const OTP_LENGTH = 26;

interface Attempt {
  readonly collection: ShareCollection;
  readonly otp: string;
}

/** `sys/generate-root-token/…`: a root token for operators who lost theirs, given their shares. */
export function generateRootPaths(deps: { seal: Seal; newRootToken: () => Promise<string> }): AnyPath[] {
  let attempt: Attempt | undefined;
  const status = async (): Promise<Record<string, unknown>> => ({
    started: attempt !== undefined,
    complete: false,
    progress: attempt?.collection.progress ?? 0,
    required: (await deps.seal.needed()).threshold,
    otp: '',
    otp_length: OTP_LENGTH,
    nonce: attempt?.collection.nonce ?? '',
    pgp_fingerprint: '',
    encoded_token: '',
    encoded_root_token: '',
  });
  const about = {
    description:
      'Open to everybody, since those who need it have no token: the shares are the right to it. The token comes encoded with the one-time password of the attempt.',
    access: 'unauthenticated' as const,
  };
  return [
    path('generate-root-token/attempt', {
      synopsis: 'Starts to make a root token.',
      ...about,
      fields: { otp: f.secret('A one-time password; left out, the server makes one.'), pgp_key: f.string('Not supported.') },
    })
      .read({ summary: 'Shows the progress.', handle: async () => ({ data: await status() }) })
      .update({
        summary: 'Starts.',
        handle: async ({ data }) => {
          if (data.pgp_key) throw new BadRequest('pgp_key is not supported: use otp');
          if (attempt) throw new BadRequest('root generation already in progress for this namespace');
          if (data.otp !== undefined && data.otp !== '' && data.otp.length !== OTP_LENGTH)
            throw new BadRequest('OTP string has incorrect length');
          const otp = data.otp || randomBase62(OTP_LENGTH);
          attempt = { collection: new ShareCollection(deps.seal, 'root generation'), otp };
          return { data: { ...(await status()), otp: data.otp ? '' : otp } };
        },
      })
      .delete({
        summary: 'Gives up.',
        handle: async () => {
          attempt = undefined;
          return undefined;
        },
      }),
    path('generate-root-token/update', {
      synopsis: 'Takes a share.',
      ...about,
      fields: { key: f.secret('The share.'), nonce: f.string('Of this attempt.') },
    }).update({
      summary: 'Gives a share.',
      handle: async ({ data }): Promise<EngineResponse> => {
        if (!attempt) throw new BadRequest('no root generation in progress');
        if (!data.key) throw new BadRequest("'key' must be specified in request body as JSON");
        const current = attempt;
        if (!(await current.collection.add(parseShare(data.key), data.nonce ?? ''))) return { data: await status() };
        const progress = await status();
        attempt = undefined;
        const encoded = encodeToken(await deps.newRootToken(), current.otp);
        const { threshold } = await deps.seal.needed();
        return { data: { ...progress, complete: true, progress: threshold, encoded_token: encoded, encoded_root_token: encoded } };
      },
    }),
  ];
}

/** `sys/decode-token`: what command lines do by themselves, for those that ask. */
export function decodeTokenPath(): AnyPath {
  return path('decode-token', {
    synopsis: 'Decodes a root token with its one-time password.',
    description: 'Open to everybody: it only computes.',
    access: 'unauthenticated',
    fields: { encoded_token: f.secret('The encoded token.'), otp: f.secret('The one-time password.') },
  }).update({
    summary: 'Decodes a token.',
    handle: async ({ data }) => {
      if (!data.encoded_token || !data.otp) throw new BadRequest('encoded_token and otp are both needed');
      const bytes = Buffer.from(data.encoded_token, 'base64');
      if (bytes.length !== Buffer.byteLength(data.otp)) throw new BadRequest('encoded_token and otp have different lengths');
      return { data: { token: xor(bytes, data.otp).toString() } };
    },
  });
}

function encodeToken(token: string, otp: string): string {
  return xor(Buffer.from(token), otp).toString('base64').replace(/=+$/, '');
}

function xor(bytes: Buffer, otp: string): Buffer {
  const key = Buffer.from(otp);
  return Buffer.from(bytes.map((byte, i) => byte ^ key[i % key.length]!));
}
