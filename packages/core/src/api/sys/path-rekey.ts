import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { parseShare, type Seal } from '../../services/seal/seal.ts';
import { checkShares } from '../../services/seal/seal-config.ts';
import { ShareCollection } from '../../services/seal/share-collection.ts';

const optional = {
  nonce: Type.Optional(Type.String()),
  progress: Type.Optional(Type.Integer({ description: 'How many shares were given.' })),
  verification_required: Type.Optional(Type.Boolean()),
  verification_nonce: Type.Optional(Type.String()),
};
const RekeyStatus = Type.Object({
  started: Type.Boolean(),
  t: Type.Integer({ description: 'How many of the new shares will be needed.' }),
  n: Type.Integer({ description: 'How many new shares there will be.' }),
  required: Type.Integer({ description: 'How many present shares are needed.' }),
  ...optional,
});
const shares = Type.Array(Type.String(), { secret: true });
const NewShares = Type.Object({ complete: Type.Boolean(), keys: shares, keys_base64: shares, ...optional });
const Verification = Type.Object({
  nonce: Type.String(),
  started: Type.Boolean(),
  t: Type.Integer(),
  n: Type.Integer(),
  progress: Type.Integer(),
});
const Verified = Type.Object({ nonce: Type.String(), complete: Type.Boolean() });

interface Rekey {
  readonly collection: ShareCollection;
  readonly shares: number;
  readonly threshold: number;
  readonly verification: boolean;
  /** New shares wait for their verification before they count. */
  pending?: { readonly split: readonly Buffer[]; readonly install: () => Promise<void>; readonly verify: ShareCollection; given: Buffer[] };
}

/** `sys/rotate/root/…` and `sys/rotate/recovery/…`: new unseal or recovery shares, given the old ones. */
export function rekeyPaths({ seal, rotateRootKey }: { seal: Seal; rotateRootKey: () => Promise<void> }): AnyPath[] {
  const kinds = ['root', 'recovery'] as const;
  return [
    ...kinds.flatMap((kind) => pathsOf(kind, seal)),
    path('rotate/root', {
      synopsis: 'Replaces the root key; the shares stay good.',
      description: 'The key ring is encrypted anew.',
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

function pathsOf(kind: 'root' | 'recovery', seal: Seal): AnyPath[] {
  let rekey: Rekey | undefined;
  const applies = (): void => {
    if ((kind === 'recovery') !== seal.automatic) {
      throw new BadRequest(
        kind === 'recovery'
          ? 'recovery rotation is not supported by a shamir seal'
          : 'this seal has no shares; rotate the recovery keys instead',
      );
    }
  };
  const started = (): Rekey => {
    if (!rekey) throw new BadRequest('no barrier rekey in progress');
    return rekey;
  };
  const status = async (): Promise<Static<typeof RekeyStatus>> => {
    const { threshold } = await seal.needed();
    return rekey
      ? {
          started: true,
          t: rekey.threshold,
          n: rekey.shares,
          required: threshold,
          nonce: rekey.collection.nonce,
          progress: rekey.collection.progress,
          verification_required: rekey.verification,
          ...(rekey.pending ? { verification_nonce: rekey.pending.verify.nonce } : {}),
        }
      : { started: false, t: 0, n: 0, required: threshold };
  };
  const keysOf = (split: readonly Buffer[]) => ({
    keys: split.map((key) => key.toString('hex')),
    keys_base64: split.map((key) => key.toString('base64')),
  });
  const about = {
    description: 'Operators give their present shares; the answer to the last one has the new ones.',
    access: 'sudo' as const,
  };
  return [
    path(`rotate/${kind}/init`, {
      synopsis: 'Starts to make new shares.',
      ...about,
      fields: {
        secret_shares: f.int('Into how many shares.'),
        secret_threshold: f.int('How many are needed.'),
        pgp_keys: f.commaStrings('Not supported.'),
        backup: f.bool('Not supported.'),
        require_verification: f.bool('The new shares count only when they were given once.'),
      },
    })
      .read({ summary: 'Shows the progress.', response: RekeyStatus, handle: async () => ({ data: await status() }) })
      .update({
        summary: 'Starts.',
        response: RekeyStatus,
        handle: async ({ data }) => {
          applies();
          if (rekey) throw new BadRequest('rekey already in progress');
          if (data.pgp_keys?.length || data.backup) throw new BadRequest('pgp_keys and backup are not supported: leave them out');
          const shares = data.secret_shares ?? 0;
          const threshold = data.secret_threshold ?? 0;
          checkShares(shares, threshold);
          rekey = { collection: new ShareCollection(seal, 'rekey'), shares, threshold, verification: data.require_verification === true };
          return { data: await status() };
        },
      })
      .delete({
        summary: 'Gives up.',
        response: NoContent,
        handle: async () => {
          rekey = undefined;
          return undefined;
        },
      }),
    path(`rotate/${kind}/update`, {
      synopsis: 'Takes a present share.',
      ...about,
      fields: { key: f.secret('The share.'), nonce: f.string('Of this rekey.') },
    }).update({
      summary: 'Gives a share.',
      response: Type.Union([RekeyStatus, NewShares]),
      handle: async ({ data }) => {
        const current = started();
        if (!data.key) throw new BadRequest("'key' must be specified in request body as JSON");
        if (!(await current.collection.add(parseShare(data.key), data.nonce ?? ''))) return { data: await status() };
        const made = await seal.makeShares(current.shares, current.threshold);
        const answer = {
          complete: true,
          nonce: current.collection.nonce,
          ...keysOf(made.split),
          verification_required: current.verification,
        };
        if (current.verification) {
          const verify = new ShareCollection(seal, 'rekey verification');
          current.pending = { ...made, verify, given: [] };
          return { data: { ...answer, verification_nonce: verify.nonce } };
        }
        await made.install();
        rekey = undefined;
        return { data: answer };
      },
    }),
    path(`rotate/${kind}/verify`, {
      synopsis: 'Takes the new shares once, before they count.',
      ...about,
      fields: { key: f.secret('A new share.'), nonce: f.string('Of this verification.') },
    })
      .read({
        summary: 'Shows the progress.',
        response: Verification,
        handle: async () => {
          const { pending, threshold, shares } = started();
          if (!pending) throw new BadRequest('no rekey verification in progress');
          return { data: { nonce: pending.verify.nonce, started: true, t: threshold, n: shares, progress: pending.given.length } };
        },
      })
      .update({
        summary: 'Gives a new share.',
        response: Type.Union([Verification, Verified]),
        handle: async ({ data }) => {
          const current = started();
          const { pending } = current;
          if (!pending) throw new BadRequest('no rekey verification in progress');
          if (data.nonce !== pending.verify.nonce)
            throw new BadRequest(`incorrect nonce supplied; nonce for this verify operation is ${JSON.stringify(pending.verify.nonce)}`);
          const share = parseShare(data.key ?? '');
          if (!pending.split.some((known) => known.equals(share))) {
            pending.given = [];
            throw new BadRequest('rekey verification failed; incorrect key shares supplied');
          }
          if (!pending.given.some((known) => known.equals(share))) pending.given.push(share);
          if (pending.given.length < current.threshold) {
            return {
              data: { nonce: pending.verify.nonce, started: true, t: current.threshold, n: current.shares, progress: pending.given.length },
            };
          }
          await pending.install();
          rekey = undefined;
          return { data: { nonce: pending.verify.nonce, complete: true } };
        },
      })
      .delete({
        summary: 'Starts the verification over.',
        response: NoContent,
        handle: async () => {
          const { pending } = started();
          if (pending) pending.given = [];
          return undefined;
        },
      }),
  ];
}
