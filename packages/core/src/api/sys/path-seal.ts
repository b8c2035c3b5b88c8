import { type AnyPath, BadRequest, type EngineResponse, f, NoContent, path, PermissionDenied, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Siblings } from '../../kernel/siblings.ts';
import { internalOf } from '../../services/caller/internal-request.ts';
import { VERSION } from '../../kernel/version.ts';
import type { Cluster } from '../../services/seal/cluster.ts';
import { operatorShares } from '../../services/seal/seal-config.ts';
import { parseShare } from '../../services/seal/seal.ts';
import { json, json200 } from './json-answer.ts';
import { initPath, type InitPathDeps } from './path-init.ts';
import { sealBackendPath, type SealBackendDeps } from './path-seal-backends.ts';

export interface SealPathDeps extends InitPathDeps, SealBackendDeps {
  readonly cluster: Cluster;
  readonly storageType: string;
  readonly now: () => Date;
  sealed(): boolean;
  /** Why a seal that opens by itself has not; undefined where nothing keeps it from it. */
  opening(recoveryKeys: boolean): string | undefined;
  /** Why an open server answers no requests just now; undefined when it does. */
  problem(): string | undefined;
  /** What of an open server does not work, though it answers requests. */
  warnings(): readonly string[];
  /** Takes a share, and starts the server when it was the last one needed. */
  unseal(share: Buffer, migrate: boolean): Promise<void>;
  /** Drops the shares given so far. */
  dropShares(): Promise<void>;
  close(): Promise<void>;
  readonly siblings: Pick<Siblings, 'configured' | 'running'>;
  /** Counts commits, for clients that print it. */
  storageIndex(): number;
}

const cluster = { cluster_name: Type.Optional(Type.String()), cluster_id: Type.Optional(Type.String()) };
const warnings = Type.Optional(Type.Array(Type.String()));
const Workers = Type.Optional(
  Type.Object(
    { running: Type.Integer(), configured: Type.Integer() },
    { description: 'The processes of this server, where its configuration has more than one.' },
  ),
);

const Health = json200(
  Type.Object({
    initialized: Type.Boolean(),
    sealed: Type.Boolean(),
    standby: Type.Boolean(),
    replication_performance_mode: Type.String(),
    replication_dr_mode: Type.String(),
    server_time_utc: Type.Integer({ description: 'Seconds since the epoch.' }),
    version: Type.String(),
    ...cluster,
    workers: Workers,
    warnings,
    seal_warnings: Type.Optional(Type.Array(Type.String(), { description: 'Seals that fail; the server is open nevertheless.' })),
  }),
);
const SealStatus = json200(
  Type.Object(
    {
      type: Type.String(),
      initialized: Type.Boolean(),
      sealed: Type.Boolean(),
      t: Type.Integer({ description: 'How many shares unseal.' }),
      n: Type.Integer({ description: 'How many shares there are.' }),
      progress: Type.Integer({ description: 'How many shares were given.' }),
      nonce: Type.String(),
      recovery_seal: Type.Boolean(),
      recovery_seal_type: Type.Optional(Type.String()),
      version: Type.String(),
      commit_date: Type.String(),
      build_date: Type.Optional(Type.String()),
      migration: Type.Boolean(),
      ...cluster,
      storage_type: Type.String(),
      workers: Workers,
      warnings,
    },
    { title: 'SealStatus' },
  ),
);
const Leader = json200(
  Type.Object({
    ha_enabled: Type.Boolean(),
    is_self: Type.Boolean(),
    active_time: Timestamp,
    leader_address: Type.String(),
    leader_cluster_address: Type.String(),
    raft_committed_index: Type.Integer(),
    raft_applied_index: Type.Integer(),
  }),
);
async function status(deps: SealPathDeps): Promise<Record<string, unknown>> {
  const config = await deps.seal.config();
  const sealed = deps.sealed();
  const { count, nonce } = deps.seal.progress;
  const { shares, threshold } = config ? operatorShares(config) : { shares: 0, threshold: 0 };
  const problem = sealed ? deps.opening(threshold > 0) : undefined;
  const warned = sealed ? (problem === undefined ? [] : [problem]) : deps.sealHealth.warnings;
  const cluster = sealed ? undefined : deps.cluster.identity;
  return {
    type: deps.seal.type,
    initialized: config !== undefined,
    sealed,
    t: threshold,
    n: shares,
    progress: count,
    nonce,
    recovery_seal: deps.seal.automatic,
    ...(deps.seal.automatic ? { recovery_seal_type: 'shamir' } : {}),
    version: VERSION,
    commit_date: '',
    migration: await deps.seal.migrating(),
    ...(cluster ? { cluster_name: cluster.name, cluster_id: cluster.id } : {}),
    storage_type: deps.storageType,
    ...workersOf(deps),
    ...(warned.length > 0 ? { warnings: warned } : {}),
  };
}

function workersOf({ siblings: { running, configured } }: SealPathDeps): { workers?: { running: number; configured: number } } {
  return configured > 1 ? { workers: { running, configured } } : {};
}

const code = (description: string): ReturnType<typeof f.string> => f.string(description);

/** Paths of `sys/` that answer everybody, sealed or not. */
export function openSealPaths(deps: SealPathDeps): AnyPath[] {
  const health = async (data: Record<string, string | undefined>): Promise<EngineResponse<never>> => {
    const codeOf = (name: string, fallback: number): number => {
      const text = data[name];
      if (text === undefined) return fallback;
      const value = Number(text);
      if (!Number.isInteger(value) || value < 100 || value > 599) throw new BadRequest(`${name} must be an HTTP status code`);
      return value;
    };
    const sealed = deps.sealed();
    // An open server asks nothing of a store that may not answer.
    const initialized = !sealed || (await deps.initialized());
    const problem = sealed ? undefined : deps.problem();
    const cluster = sealed ? undefined : deps.cluster.identity;
    const answer = !initialized ? codeOf('uninitcode', 501) : sealed ? codeOf('sealedcode', 503) : codeOf('activecode', 200);
    codeOf('standbycode', 429);
    const failing = sealed ? [] : deps.sealHealth.warnings;
    const missing = deps.siblings.configured - deps.siblings.running;
    const warnings = [
      ...(problem === undefined ? [] : [problem]),
      ...(sealed ? [] : deps.warnings()),
      ...(missing > 0
        ? [
            `${missing} of ${deps.siblings.configured} workers ${missing === 1 ? 'is not serving: it is' : 'are not serving: they are'} starting or about to be restarted`,
          ]
        : []),
    ];
    const unable = warnings.length === 0 ? {} : { warnings };
    return json(
      {
        initialized,
        sealed,
        standby: sealed,
        replication_performance_mode: sealed ? 'unknown' : 'disabled',
        replication_dr_mode: sealed ? 'unknown' : 'disabled',
        server_time_utc: Math.floor(deps.now().getTime() / 1_000),
        version: VERSION,
        ...(cluster ? { cluster_name: cluster.name, cluster_id: cluster.id } : {}),
        ...workersOf(deps),
        ...unable,
        ...(failing.length > 0 ? { seal_warnings: failing } : {}),
      },
      problem === undefined ? answer : 503,
    );
  };
  return [
    path('health', {
      access: 'unauthenticated',
      synopsis: 'Whether the server is up, initialized and unsealed.',
      description: '200 when it serves; 503 sealed, or unable to hear the other servers; 501 not initialized.',
      arbitraryData: true,
      fields: {
        standbyok: code('Accepted; every node is active.'),
        activecode: code('Status instead of 200.'),
        standbycode: code('Accepted; every node is active.'),
        sealedcode: code('Status instead of 503.'),
        uninitcode: code('Status instead of 501.'),
      },
    }).read({
      summary: 'Health of the server.',
      response: Health,
      answers: { 501: Health, 503: Health, default: Health },
      handle: async (req) => health(req.data as Record<string, string | undefined>),
    }),
    path('seal-status', {
      access: 'unauthenticated',
      synopsis: 'How far unsealing is.',
      description: 'Open to everybody.',
      fields: {},
    }).read({
      summary: 'Seal status.',
      response: SealStatus,
      handle: async () => json(await status(deps)),
    }),
    sealBackendPath(deps),
    path('leader', {
      access: 'unauthenticated',
      synopsis: 'Which node leads: every node is active.',
      description: 'Answered by the node itself.',
      fields: {},
    }).read({
      summary: 'The leader.',
      response: Leader,
      handle: async () => {
        const index = deps.storageIndex();
        return json({
          ha_enabled: false,
          is_self: true,
          active_time: deps.cluster.startedAt.toISOString(),
          leader_address: deps.cluster.apiAddress,
          leader_cluster_address: deps.cluster.apiAddress,
          raft_committed_index: index,
          raft_applied_index: index,
        });
      },
    }),
    initPath(deps),
    path('unseal', {
      access: 'unauthenticated',
      synopsis: 'Takes one share of the unseal key.',
      description: 'When there are enough, the server opens. `reset` drops the shares given so far.',
      fields: {
        key: f.secret('A share, hex or base64.'),
        reset: f.bool('Start over.'),
        migrate: f.bool('Migrates the store to the seal of the configuration.'),
      },
    }).update({
      summary: 'Unseals.',
      response: SealStatus,
      handle: async ({ data }) => {
        if (!data.reset && !data.key) throw new BadRequest("'key' must be specified in request body as JSON, or 'reset' set to true");
        if (data.reset) {
          if (!deps.sealed()) throw new BadRequest('vault is unsealed');
          await deps.dropShares();
        } else {
          await deps.unseal(parseShare(data.key!), data.migrate === true);
        }
        return json(await status(deps));
      },
    }),
  ];
}

/** Paths that need a token. */
export function sealPaths(deps: Pick<SealPathDeps, 'close'>): AnyPath[] {
  return [
    path('seal', { synopsis: 'Seals the server.', description: 'Needs root or sudo.', fields: {} }).update({
      summary: 'Seals.',
      response: NoContent,
      handle: async (req) => {
        const { acl } = internalOf(req);
        if (!acl!.root && !acl!.check({ operation: 'update', path: 'sys/seal' }).sudo) throw new PermissionDenied();
        await deps.close();
        return undefined;
      },
    }),
    path('step-down', { synopsis: 'Accepted: there is no leader to step down.', description: 'Needs root or sudo.', fields: {} }).update({
      summary: 'Steps down.',
      response: NoContent,
      handle: async (req) => {
        const { acl } = internalOf(req);
        if (!acl!.root && !acl!.check({ operation: 'update', path: 'sys/step-down' }).sudo) throw new PermissionDenied();
        return undefined;
      },
    }),
  ];
}
