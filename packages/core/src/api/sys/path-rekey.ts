import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { requireNoEmptyText } from '../../services/ceremony/pgp-keys.ts';
import { ROTATION } from '../../services/ceremony/purpose.ts';
import type { Rekeying } from '../../services/ceremony/rekeying.ts';
import { parseShare } from '../../services/seal/seal.ts';
import { MadeShares, madeOf, RekeyStatus, statusOf, Verification, verificationOf, Verified, verifiedOf } from './rekey-data.ts';
import { orderFields, orderOf } from './rekey-order.ts';

/** `sys/rotate/root/…` and `sys/rotate/recovery/…`: new unseal or recovery shares, given the present ones. */
export function rekeyPaths({
  rekeyings,
  rotateRootKey,
}: {
  rekeyings: readonly Rekeying[];
  rotateRootKey: () => Promise<void>;
}): AnyPath[] {
  return [
    ...rekeyings.flatMap((rekeying) => [initPath(rekeying), updatePath(rekeying), verifyPath(rekeying)]),
    path('rotate/root', {
      synopsis: 'Replaces the root key; the shares stay good.',
      description: 'The key ring is encrypted again.',
      access: 'sudo',
      fields: {},
    }).update({
      summary: 'Rotates the root key.',
      response: NoContent,
      handle: async () => {
        await rotateRootKey();
        return undefined;
      },
    }),
  ];
}

const about = {
  description:
    'Operators give their present shares; the answer to the last one has the new ones. Every server of the store goes on with the same rekey.',
  access: 'sudo' as const,
};

function initPath(rekeying: Rekeying): AnyPath {
  return path(`rotate/${rekeying.target}/init`, { synopsis: 'Starts to make new shares.', ...about, fields: orderFields })
    .read({ summary: 'Shows the progress.', response: RekeyStatus, handle: async () => ({ data: await statusOf(rekeying, ROTATION) }) })
    .update({
      summary: 'Starts. Answers the first recovery shares at once, where the initialization postponed them.',
      response: Type.Union([RekeyStatus, MadeShares]),
      handle: async ({ data, raw }) => {
        requireNoEmptyText(raw, ['pgp_keys']);
        const order = orderOf(data);
        if (rekeying.target === 'recovery' && (await rekeying.required()) === 0)
          return { data: madeOf(await rekeying.first(order, ROTATION)) };
        return { data: await statusOf(rekeying, ROTATION, await rekeying.start(order, ROTATION)) };
      },
    })
    .delete({
      summary: 'Gives up; the present shares stay in force.',
      response: NoContent,
      handle: async () => {
        await rekeying.cancel(ROTATION);
        return undefined;
      },
    });
}

function updatePath(rekeying: Rekeying): AnyPath {
  return path(`rotate/${rekeying.target}/update`, {
    synopsis: 'Takes a present share.',
    ...about,
    fields: { key: f.secret('The share, hex or base64.'), nonce: f.string('Of this rekey.') },
  }).update({
    summary: 'Gives a share.',
    response: Type.Union([RekeyStatus, MadeShares]),
    handle: async ({ data }) => {
      const given = await rekeying.give(parseShare(required(data.key)), data.nonce ?? '', ROTATION);
      return { data: 'made' in given ? madeOf(given) : await statusOf(rekeying, ROTATION, given) };
    },
  });
}

function verifyPath(rekeying: Rekeying): AnyPath {
  return path(`rotate/${rekeying.target}/verify`, {
    synopsis: 'Takes the new shares once, before they count.',
    ...about,
    fields: { key: f.secret('A new share, hex or base64.'), nonce: f.string('Of this verification.') },
  })
    .read({
      summary: 'Shows the progress.',
      response: Verification,
      handle: async () => ({ data: verificationOf(await rekeying.verification(ROTATION)) }),
    })
    .update({
      summary: 'Gives a new share.',
      response: Type.Union([Verification, Verified]),
      handle: async ({ data }) => ({
        data: verifiedOf(await rekeying.verify(parseShare(required(data.key)), data.nonce ?? '', ROTATION)),
      }),
    })
    .delete({
      summary: 'Starts the verification over, with a new nonce.',
      response: Verification,
      handle: async () => ({ data: verificationOf(await rekeying.restartVerification(ROTATION)) }),
    });
}

function required(key: string | undefined): string {
  if (!key) throw new BadRequest("missing required field 'key'");
  return key;
}
