import { type AnyPath, BadRequest, type Clock, f, NoContent, type Operation, path, PermissionDenied } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { randomBase62 } from '../../kernel/random/random-base62.ts';
import { parseShare, type Seal } from '../../services/seal/seal.ts';
import { ShareCollection } from '../../services/seal/share-collection.ts';

/** Length of a service token: `s.` and 24 characters. */
const OTP_LENGTH = 26;
const ATTEMPT = 'generate-root-token/attempt';
/** An attempt that gets no share for so long ends, so that one whose nonce is lost blocks nobody for ever. Milliseconds. */
const IDLE = 86_400_000;

interface Attempt {
  readonly collection: ShareCollection;
  readonly otp: string;
  lastShare: number;
}

const RootGeneration = Type.Object({
  started: Type.Boolean(),
  complete: Type.Boolean(),
  progress: Type.Integer({ description: 'How many shares were given.' }),
  required: Type.Integer(),
  otp: Type.String({ description: 'Of a new attempt: what decodes the token.', secret: true }),
  otp_length: Type.Integer(),
  nonce: Type.String(),
  pgp_fingerprint: Type.String(),
  encoded_token: Type.String({ secret: true }),
  encoded_root_token: Type.String({ secret: true }),
});

export interface GenerateRootDeps {
  readonly seal: Seal;
  readonly clock: Clock;
  newRootToken(): Promise<string>;
  /** Whether the request shows a token that may do this at the path of `sys/`. */
  permits(request: object, operation: Operation, path: string): Promise<boolean>;
}

/**
 * `sys/generate-root-token/…`: a root token for operators who lost theirs, given their shares. Whoever knows an attempt's nonce can give shares to it
 * and cancel it, so only the caller who started it sees the nonce, and tokens whose policy lets them read or delete the attempt.
 */
export function generateRootPaths(deps: GenerateRootDeps): AnyPath[] {
  let started: Attempt | undefined;
  const running = (): Attempt | undefined => {
    if (started && deps.clock.millis() - started.lastShare >= IDLE) started = undefined;
    return started;
  };
  const knows = async (request: object): Promise<boolean> => deps.permits(request, 'read', ATTEMPT);
  const status = async (attempt: Attempt | undefined, nonce: boolean): Promise<Static<typeof RootGeneration>> => ({
    started: attempt !== undefined,
    complete: false,
    progress: attempt?.collection.progress ?? 0,
    required: (await deps.seal.needed()).threshold,
    otp: '',
    otp_length: OTP_LENGTH,
    nonce: nonce ? (attempt?.collection.nonce ?? '') : '',
    pgp_fingerprint: '',
    encoded_token: '',
    encoded_root_token: '',
  });
  const about = {
    description:
      'Open to everybody, since those who need it have no token: the shares are the right to it. The token comes encoded with the one-time password of the attempt. An attempt that gets no share for a day ends.',
    access: 'unauthenticated' as const,
  };
  return [
    path(ATTEMPT, {
      synopsis: 'Starts to make a root token.',
      ...about,
      fields: {
        otp: f.secret('A one-time password; left out, the server makes one.'),
        pgp_key: f.string('Not supported.'),
        nonce: f.string('Of the attempt that is cancelled; a token that may delete this path needs none.'),
      },
    })
      .read({
        summary: 'Shows the progress; the nonce is shown to a token that may read this path.',
        response: RootGeneration,
        handle: async (req) => {
          const attempt = running();
          return { data: await status(attempt, attempt !== undefined && (await knows(req))) };
        },
      })
      .update({
        summary: 'Starts.',
        response: RootGeneration,
        handle: async ({ data }) => {
          if (data.pgp_key) throw new BadRequest('pgp_key is not supported: use otp');
          if (running()) throw new BadRequest('root generation already in progress for this namespace');
          if (data.otp !== undefined && data.otp !== '' && data.otp.length !== OTP_LENGTH)
            throw new BadRequest('OTP string has incorrect length');
          const otp = data.otp || randomBase62(OTP_LENGTH);
          const collection = new ShareCollection(deps.seal, 'root generation');
          const attempt = (started = { collection, otp, lastShare: deps.clock.millis() });
          return { data: { ...(await status(attempt, true)), otp: data.otp ? '' : otp } };
        },
      })
      .delete({
        summary: 'Gives up, for who has the nonce or a token that may.',
        response: NoContent,
        handle: async (req) => {
          const attempt = running();
          if (!attempt) return undefined;
          const { nonce } = req.data;
          if (nonce) {
            if (nonce !== attempt.collection.nonce) attempt.collection.requireNonce(nonce, await knows(req));
          } else if (!(await deps.permits(req, 'delete', ATTEMPT))) {
            throw new PermissionDenied(
              `nonce: cancelling a root generation takes its nonce, or a token whose policy allows delete on sys/${ATTEMPT}`,
            );
          }
          if (started === attempt) started = undefined;
          return undefined;
        },
      }),
    path('generate-root-token/update', {
      synopsis: 'Takes a share.',
      ...about,
      fields: { key: f.secret('The share.'), nonce: f.string('Of this attempt.') },
    }).update({
      summary: 'Gives a share.',
      response: RootGeneration,
      handle: async (req) => {
        const { key, nonce = '' } = req.data;
        const attempt = running();
        if (!attempt) throw new BadRequest('no root generation in progress');
        if (!key) throw new BadRequest("'key' must be specified in request body as JSON");
        const { collection } = attempt;
        if (nonce !== collection.nonce) collection.requireNonce(nonce, await knows(req));
        const complete = await collection.add(parseShare(key), nonce);
        attempt.lastShare = deps.clock.millis();
        const progress = await status(attempt, true);
        if (!complete) return { data: progress };
        if (started !== attempt) throw new BadRequest('no root generation in progress');
        started = undefined;
        const encoded = encodeToken(await deps.newRootToken(), attempt.otp);
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
    response: Type.Object({ token: Type.String({ secret: true }) }),
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
