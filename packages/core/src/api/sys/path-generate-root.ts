import { type AnyPath, BadRequest, f, NoContent, type Operation, path, PermissionDenied } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { requireNonce, ROOT_TOKEN } from '../../services/ceremony/purpose.ts';
import { OTP_LENGTH, type RootGeneration } from '../../services/ceremony/root-generation.ts';
import type { RootGenerationRecord } from '../../services/ceremony/root-generation-record.ts';
import { parseShare } from '../../services/seal/seal.ts';

const ATTEMPT = 'generate-root-token/attempt';

const progress = {
  started: Type.Boolean(),
  complete: Type.Boolean(),
  progress: Type.Integer({ description: 'How many shares were given.' }),
  required: Type.Integer(),
};
const known = {
  nonce: Type.String({ description: 'Of the attempt; empty for callers who may not know it.' }),
  pgp_fingerprint: Type.String({ description: 'Of the key that the token will be encrypted to; empty with a one-time password.' }),
};
const Attempt = Type.Object({
  ...progress,
  otp: Type.String({ description: 'Of a new attempt: what decodes the token.', secret: true }),
  otp_length: Type.Integer(),
  nonce: Type.Optional(known.nonce),
  pgp_fingerprint: Type.Optional(known.pgp_fingerprint),
});
const Made = Type.Object({ ...progress, ...known, encoded_token: Type.String({ secret: true }) });

export const attemptFields = {
  otp: f.secret('A one-time password of 26 characters; left out, the server makes one.'),
  pgp_key: f.string('A public PGP key, base64 of the binary key or armored, to encrypt the token to instead.'),
};

export interface GenerateRootDeps {
  readonly rootGeneration: RootGeneration;
  newRootToken(): Promise<string>;
  /** Whether the request shows a token that may do this at the path of `sys/`. */
  permits(request: object, operation: Operation, path: string): Promise<boolean>;
}

/**
 * `sys/generate-root-token/…`: a root token for operators who lost theirs, given their shares. Whoever knows an attempt's nonce can give shares to it
 * and cancel it, so only the caller who started it sees the nonce, and tokens whose policy lets them read or delete the attempt.
 */
export function generateRootPaths({ rootGeneration, newRootToken, permits }: GenerateRootDeps): AnyPath[] {
  const knows = async (request: object): Promise<boolean> => permits(request, 'read', ATTEMPT);
  const status = async (attempt: RootGenerationRecord | undefined, nonce: boolean): Promise<Static<typeof Attempt>> => ({
    started: attempt !== undefined,
    complete: false,
    progress: attempt?.given.length ?? 0,
    required: await rootGeneration.required(),
    otp: '',
    otp_length: OTP_LENGTH,
    ...(attempt ? { nonce: nonce ? attempt.nonce : '', pgp_fingerprint: attempt.fingerprint } : {}),
  });
  const about = {
    description:
      'Open to everybody, since those who need it have no token: the shares are the right to it. The token comes encoded with the one-time password of the attempt, or encrypted to its PGP key. An attempt that gets no share for a day ends.',
    access: 'unauthenticated' as const,
  };
  return [
    path(ATTEMPT, {
      synopsis: 'Starts to make a root token.',
      ...about,
      fields: { ...attemptFields, nonce: f.string('Of the attempt that is cancelled; a token that may delete this path needs none.') },
    })
      .read({
        summary: 'Shows the progress; the nonce is shown to a token that may read this path.',
        response: Attempt,
        handle: async (req) => {
          const attempt = await rootGeneration.current();
          return { data: await status(attempt, attempt !== undefined && (await knows(req))) };
        },
      })
      .update({
        summary: 'Starts.',
        response: Attempt,
        handle: async ({ data }) => {
          const { attempt, made } = await rootGeneration.start({ otp: data.otp ?? '', pgpKey: data.pgp_key ?? '' });
          return { data: { ...(await status(attempt, true)), otp: made ?? '' } };
        },
      })
      .delete({
        summary: 'Gives up, for who has the nonce or a token that may.',
        response: NoContent,
        handle: async (req) => {
          const attempt = await rootGeneration.current();
          if (!attempt) return undefined;
          const { nonce } = req.data;
          if (nonce) {
            if (nonce !== attempt.nonce) requireNonce(nonce, attempt.nonce, ROOT_TOKEN, await knows(req));
          } else if (!(await permits(req, 'delete', ATTEMPT))) {
            throw new PermissionDenied(
              `nonce: cancelling a root generation takes its nonce, or a token whose policy allows delete on sys/${ATTEMPT}`,
            );
          }
          await rootGeneration.cancel(attempt.nonce);
          return undefined;
        },
      }),
    path('generate-root-token/update', {
      synopsis: 'Takes a share.',
      ...about,
      fields: { key: f.secret('The share, hex or base64.'), nonce: f.string('Of this attempt.') },
    }).update({
      summary: 'Gives a share.',
      response: Type.Union([Attempt, Made]),
      handle: async (req) => {
        const { key, nonce } = req.data;
        if (!(await rootGeneration.current())) throw new BadRequest(ROOT_TOKEN.none);
        if (!nonce) throw new BadRequest('nonce is required');
        if (!key) throw new BadRequest('key is required');
        const { attempt, encoded } = await rootGeneration.give(parseShare(key), nonce, {
          tell: async () => knows(req),
          newToken: newRootToken,
        });
        if (encoded === undefined) return { data: await status(attempt, true) };
        const required = await rootGeneration.required();
        return {
          data: {
            started: true,
            complete: true,
            progress: required,
            required,
            nonce: attempt.nonce,
            pgp_fingerprint: attempt.fingerprint,
            encoded_token: encoded,
          },
        };
      },
    }),
  ];
}
