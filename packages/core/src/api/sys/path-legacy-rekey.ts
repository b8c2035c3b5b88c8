import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { REKEY } from '../../services/ceremony/purpose.ts';
import type { RekeyRecord } from '../../services/ceremony/rekey-record.ts';
import type { Rekeying } from '../../services/ceremony/rekeying.ts';
import { parseShare } from '../../services/seal/seal.ts';
import { gatedAnswers, requireTokenless } from './ceremony-gate.ts';
import { json, json200 } from './json-answer.ts';
import { madeOf, Verification, verificationOf, Verified, verifiedOf } from './rekey-data.ts';
import { orderFields, orderOf } from './rekey-order.ts';

const secrets = Type.Array(Type.String(), { secret: true });
const shared = {
  nonce: Type.String(),
  pgp_fingerprints: Type.Union([Type.Array(Type.String()), Type.Null()]),
  backup: Type.Boolean(),
  verification_required: Type.Boolean(),
  verification_nonce: Type.Optional(Type.String()),
};
const LegacyStatus = Type.Object({
  started: Type.Boolean(),
  t: Type.Integer({ description: 'How many of the new shares will be needed.' }),
  n: Type.Integer({ description: 'How many new shares there will be.' }),
  progress: Type.Integer({ description: 'How many shares were given.' }),
  required: Type.Integer({ description: 'How many present shares are needed.' }),
  ...shared,
});
const LegacyShares = Type.Object({ complete: Type.Boolean(), keys: secrets, keys_base64: secrets, ...shared });

/** `sys/rekey/…` and `sys/rekey-recovery-key/…`: the same rekeys as `sys/rotate/…`, without a token, where the listener allows it. */
export function legacyRekeyPaths(rekeyings: readonly Rekeying[]): AnyPath[] {
  return rekeyings.flatMap((rekeying) => {
    const name = rekeying.target === 'root' ? 'rekey' : 'rekey-recovery-key';
    return [initPath(name, rekeying), updatePath(name, rekeying), verifyPath(name, rekeying)];
  });
}

const about = {
  description:
    'Open to everybody on listeners with disable_unauthed_rekey_endpoints = false, and 405 on others: the shares are the right to it. The answer to the last present share has the new ones.',
  access: 'unauthenticated' as const,
};

async function statusOf(rekeying: Rekeying, known?: RekeyRecord): Promise<Record<string, unknown>> {
  const rekey = known ?? (await rekeying.current(REKEY));
  return {
    nonce: rekey?.nonce ?? '',
    started: rekey !== undefined,
    t: rekey?.threshold ?? 0,
    n: rekey?.shares ?? 0,
    progress: rekey?.given.length ?? 0,
    required: await rekeying.required(),
    pgp_fingerprints: rekey?.fingerprints.length ? rekey.fingerprints : null,
    backup: rekey?.backup ?? false,
    verification_required: rekey?.verification ?? false,
    ...(rekey?.pending ? { verification_nonce: rekey.pending.nonce } : {}),
  };
}

function initPath(name: 'rekey' | 'rekey-recovery-key', rekeying: Rekeying): AnyPath {
  return path(`${name}/init`, { synopsis: 'Starts to make new shares.', ...about, fields: orderFields })
    .read({
      summary: 'Shows the progress.',
      response: json200(LegacyStatus),
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'rekey');
        return json(await statusOf(rekeying));
      },
    })
    .update({
      summary: 'Starts.',
      response: json200(LegacyStatus),
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'rekey');
        return json(await statusOf(rekeying, await rekeying.start(orderOf(req.data), REKEY)));
      },
    })
    .delete({
      summary: 'Gives up; the present shares stay in force.',
      response: NoContent,
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'rekey');
        await rekeying.cancel(REKEY);
        return undefined;
      },
    });
}

function updatePath(name: 'rekey' | 'rekey-recovery-key', rekeying: Rekeying): AnyPath {
  return path(`${name}/update`, {
    synopsis: 'Takes a present share.',
    ...about,
    fields: { key: f.secret('The share, hex or base64.'), nonce: f.string('Of this rekey.') },
  }).update({
    summary: 'Gives a share.',
    response: json200(Type.Union([LegacyStatus, LegacyShares])),
    answers: gatedAnswers,
    handle: async (req) => {
      requireTokenless(req, 'rekey');
      const given = await rekeying.give(parseShare(required(req.data.key)), req.data.nonce ?? '', REKEY);
      if (!('made' in given)) return json(await statusOf(rekeying, given));
      const { verification_nonce: nonce, ...made } = madeOf(given);
      return json(nonce === '' ? made : { ...made, verification_nonce: nonce });
    },
  });
}

function verifyPath(name: 'rekey' | 'rekey-recovery-key', rekeying: Rekeying): AnyPath {
  return path(`${name}/verify`, {
    synopsis: 'Takes the new shares once, before they count.',
    ...about,
    fields: { key: f.secret('A new share, hex or base64.'), nonce: f.string('Of this verification.') },
  })
    .read({
      summary: 'Shows the progress.',
      response: json200(Verification),
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'rekey');
        return json(verificationOf(await rekeying.verification(REKEY)));
      },
    })
    .update({
      summary: 'Gives a new share.',
      response: json200(Type.Union([Verification, Verified])),
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'rekey');
        return json(verifiedOf(await rekeying.verify(parseShare(required(req.data.key)), req.data.nonce ?? '', REKEY)));
      },
    })
    .delete({
      summary: 'Starts the verification over, with a new nonce.',
      response: json200(Verification),
      answers: gatedAnswers,
      handle: async (req) => {
        requireTokenless(req, 'rekey');
        return json(verificationOf(await rekeying.restartVerification(REKEY)));
      },
    });
}

function required(key: string | undefined): string {
  if (!key) throw new BadRequest("'key' must be specified in request body as JSON");
  return key;
}
