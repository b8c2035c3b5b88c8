import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { OTP_LENGTH, type RootGeneration } from '../../services/ceremony/root-generation.ts';
import type { RootGenerationRecord } from '../../services/ceremony/root-generation-record.ts';
import { parseShare } from '../../services/seal/seal.ts';
import { gatedAnswers, requireTokenless } from './ceremony-gate.ts';
import { json, json200 } from './json-answer.ts';
import { attemptFields, type GenerateRootDeps } from './path-generate-root.ts';

const Generation = Type.Object({
  nonce: Type.String(),
  started: Type.Boolean(),
  progress: Type.Integer({ description: 'How many shares were given.' }),
  required: Type.Integer(),
  complete: Type.Boolean(),
  encoded_token: Type.String({ secret: true }),
  encoded_root_token: Type.String({ secret: true }),
  pgp_fingerprint: Type.String(),
  otp: Type.String({ description: 'Of a new attempt: what decodes the token.', secret: true }),
  otp_length: Type.Integer(),
});

/** `sys/generate-root/…`: the same attempt as `sys/generate-root-token/…`, where the listener allows it. Everybody sees its nonce, as older clients expect. */
export function legacyGenerateRootPaths({ rootGeneration, newRootToken }: Omit<GenerateRootDeps, 'permits'>): AnyPath[] {
  const about = {
    description:
      'Open to everybody on listeners with disable_unauthed_generate_root_endpoints = false, and 405 on others: the shares are the right to it.',
    access: 'unauthenticated' as const,
  };
  return [
    path('generate-root/attempt', { synopsis: 'Starts to make a root token.', ...about, fields: attemptFields })
      .read({
        summary: 'Shows the progress.',
        response: json200(Generation),
        answers: gatedAnswers,
        handle: async (req) => {
          requireTokenless(req, 'generate-root');
          return json(await statusOf(rootGeneration, await rootGeneration.current()));
        },
      })
      .update({
        summary: 'Starts.',
        response: json200(Generation),
        answers: gatedAnswers,
        handle: async (req) => {
          requireTokenless(req, 'generate-root');
          const { attempt, made } = await rootGeneration.start({ otp: req.data.otp ?? '', pgpKey: req.data.pgp_key ?? '' });
          return json({ ...(await statusOf(rootGeneration, attempt)), otp: made ?? '' });
        },
      })
      .delete({
        summary: 'Gives up.',
        response: NoContent,
        answers: gatedAnswers,
        handle: async (req) => {
          requireTokenless(req, 'generate-root');
          const attempt = await rootGeneration.current();
          if (attempt) await rootGeneration.cancel(attempt.nonce);
          return undefined;
        },
      }),
    path('generate-root/update', {
      synopsis: 'Takes a share.',
      ...about,
      fields: { key: f.secret('The share, hex or base64.'), nonce: f.string('Of this attempt.') },
    }).update({
      summary: 'Gives a share.',
      response: json200(Generation),
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'generate-root');
        const { key, nonce = '' } = req.data;
        if (!key) throw new BadRequest("'key' must be specified in request body as JSON");
        const { attempt, encoded } = await rootGeneration.give(parseShare(key), nonce, { tell: async () => true, newToken: newRootToken });
        const status = await statusOf(rootGeneration, attempt);
        if (encoded === undefined) return json(status);
        return json({
          ...status,
          progress: status.required,
          complete: true,
          encoded_token: encoded,
          encoded_root_token: encoded,
          otp_length: 0,
        });
      },
    }),
  ];
}

async function statusOf(generation: RootGeneration, attempt: RootGenerationRecord | undefined): Promise<Static<typeof Generation>> {
  return {
    nonce: attempt?.nonce ?? '',
    started: attempt !== undefined,
    progress: attempt?.given.length ?? 0,
    required: await generation.required(),
    complete: false,
    encoded_token: '',
    encoded_root_token: '',
    pgp_fingerprint: attempt?.fingerprint ?? '',
    otp: '',
    otp_length: OTP_LENGTH,
  };
}
