import { type AnyPath, BadRequest, f, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { protectShares, shownShares } from '../../services/ceremony/new-shares.ts';
import { requireNoEmptyText, separateKeys, type PgpKeys, type PgpPublicKey } from '../../services/ceremony/pgp-keys.ts';
import { checkShares, DEFAULT_RECOVERY_SHARES, defaultThreshold } from '../../services/seal/seal-config.ts';
import type { InitOrder, InitResult, Seal } from '../../services/seal/seal.ts';
import { json, json200 } from './json-answer.ts';

export interface InitPathDeps {
  readonly seal: Seal;
  readonly pgpKeys: PgpKeys;
  initialized(): Promise<boolean>;
  /** Makes the store's keys and the first token. */
  initialize(order: InitOrder): Promise<InitResult & { rootToken: string }>;
}

const shares = Type.Array(Type.String(), { secret: true });
const Initialized = json200(
  Type.Object({
    keys: shares,
    keys_base64: shares,
    recovery_keys: Type.Optional(shares),
    recovery_keys_base64: Type.Optional(shares),
    root_token: Type.String({ secret: true }),
  }),
);

/** `sys/init`: makes the keys of a new store. Every PGP key is checked before anything is written. */
export function initPath(deps: InitPathDeps): AnyPath {
  return path('init', {
    access: 'unauthenticated',
    synopsis: 'Makes the keys of a new store.',
    description:
      'Answers with the unseal keys and the root token, once. PGP keys are base64 of the binary public key, or armored; what is encrypted to them can be read by nobody else.',
    fields: {
      secret_shares: f.int('Into how many shares the unseal key is split.'),
      secret_threshold: f.int('How many shares unseal.'),
      stored_shares: f.int('Accepted for older clients.', { deprecated: true }),
      pgp_keys: f.strings('Public PGP keys to encrypt the shares to: one for each, in the order of the shares.'),
      root_token_pgp_key: f.string('A public PGP key to encrypt the root token to. It is then answered as base64.'),
      recovery_shares: f.int('Shares of the recovery key of an automatic seal.'),
      recovery_threshold: f.int('How many of them are needed.'),
      recovery_pgp_keys: f.strings('As pgp_keys, for the shares of the recovery key.'),
    },
  })
    .read({
      summary: 'Whether the store is initialized.',
      response: json200(Type.Object({ initialized: Type.Boolean() })),
      handle: async () => json({ initialized: await deps.initialized() }),
    })
    .update({
      summary: 'Initializes the store.',
      response: Initialized,
      handle: async ({ data, raw }) => {
        if (await deps.initialized()) throw new BadRequest('Vault is already initialized');
        requireNoEmptyText(raw, ['pgp_keys', 'recovery_pgp_keys']);
        const keys = await holdersOf(deps, {
          ...data,
          pgpKeys: separateKeys(data.pgp_keys),
          recoveryPgpKeys: separateKeys(data.recovery_pgp_keys),
        });
        const rootTokenKey = data.root_token_pgp_key ? await tokenKey(deps.pgpKeys, data.root_token_pgp_key) : undefined;
        const made = await deps.initialize({
          secretShares: data.secret_shares,
          secretThreshold: data.secret_threshold,
          recoveryShares: data.recovery_shares,
          recoveryThreshold: data.recovery_threshold,
        });
        const { keys: unsealKeys, keys_base64 } = shownShares((await protectShares(made.keys, made.keys.length > 0 ? keys : [])).shares);
        const recovery = made.recoveryKeys.length > 0 ? shownShares((await protectShares(made.recoveryKeys, keys)).shares) : undefined;
        return json({
          keys: unsealKeys,
          keys_base64,
          ...(recovery ? { recovery_keys: recovery.keys, recovery_keys_base64: recovery.keys_base64 } : {}),
          root_token: rootTokenKey
            ? Buffer.from(await rootTokenKey.encrypt(Buffer.from(made.rootToken))).toString('base64')
            : made.rootToken,
        });
      },
    });
}

interface Holders {
  readonly secret_shares?: number | undefined;
  readonly secret_threshold?: number | undefined;
  readonly recovery_shares?: number | undefined;
  readonly recovery_threshold?: number | undefined;
  readonly pgpKeys: readonly string[];
  readonly recoveryPgpKeys: readonly string[];
}

/** The keys of those who get the shares that the seal has: unseal shares, or recovery shares. */
async function holdersOf({ seal, pgpKeys }: InitPathDeps, data: Holders): Promise<PgpPublicKey[]> {
  const [mine, others, foreign] = seal.automatic
    ? [data.recoveryPgpKeys, data.pgpKeys, 'pgp_keys']
    : [data.pgpKeys, data.recoveryPgpKeys, 'recovery_pgp_keys'];
  if (others.length > 0) throw new BadRequest(`parameters ${foreign} not applicable to seal type ${seal.type}`);
  if (mine.length === 0) return [];
  const what = seal.automatic ? 'recovery' : 'seal';
  const count = (seal.automatic ? (data.recovery_shares ?? DEFAULT_RECOVERY_SHARES) : data.secret_shares) ?? 0;
  checkShares(count, (seal.automatic ? (data.recovery_threshold ?? defaultThreshold(count)) : data.secret_threshold) ?? 0, what);
  return pgpKeys.readAll(mine, count, `invalid ${what} configuration`);
}

async function tokenKey(pgpKeys: PgpKeys, text: string): Promise<PgpPublicKey> {
  try {
    return await pgpKeys.read(text);
  } catch (error) {
    throw error instanceof BadRequest ? new BadRequest(`root_token_pgp_key: ${error.message}`) : error;
  }
}
