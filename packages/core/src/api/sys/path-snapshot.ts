import { type AnyPath, BadRequest, type EngineRequest, path, Refusal, streamedAnswer, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import { issuedSince } from '../../services/snapshots/issued-since.ts';
import type { Snapshots } from '../../services/snapshots/snapshots.ts';

const BODY = /^sys\/storage\/raft\/snapshot(?:-force)?\/?$/;

/** Whether a write to the path takes its body as it comes. */
export function takesStream(requestPath: string): boolean {
  return requestPath.startsWith('sys/storage/') && BODY.test(requestPath);
}

const SEALED = 'the server is sealed: unseal it with the keys of the time of the snapshot';

/** The warnings say what the restored store does not know. */
const Restored = Type.Object({
  id: Type.String({ description: 'Of the snapshot.' }),
  created_at: Timestamp,
  cluster_name: Type.String({ description: 'The cluster that the snapshot was taken of.' }),
  entries: Type.Integer({ description: 'Records in the store.' }),
  sealed: Type.Boolean({ description: 'Whether the server has to be unsealed with the keys of the time of the snapshot.' }),
});

interface Deps {
  readonly snapshots: Snapshots;
  readonly mounts: { all(): readonly Mount[] };
  /** See Lifecycle. */
  replaceStore(replace: () => Promise<void>): Promise<boolean>;
}

/** `sys/storage/raft/snapshot`: a backup of the whole store while it is used. The name is that of Vault and OpenBao, whose command lines call it. */
export function snapshotPaths({ snapshots, mounts, replaceStore }: Deps): AnyPath[] {
  const restore = async (req: EngineRequest<never> | object, force: boolean) => {
    const internal = internalOf(req);
    const { body } = internal.request;
    if (!body) throw new BadRequest('the body must be a snapshot, as GET sys/storage/raft/snapshot answered it');
    const swap = async (install: () => Promise<void>): Promise<boolean> => {
      internal.replacesStore();
      return replaceStore(install);
    };
    const { meta, open } = await snapshots.restore(arriving(body), { force, swap });
    const data = { id: meta.ID, created_at: meta.CreatedAt, cluster_name: meta.ClusterName, entries: meta.Entries, sealed: !open };
    return { data, warnings: [...(open ? [] : [SEALED]), ...issuedSince(meta, open ? mounts.all() : [])] };
  };
  return [
    path('storage/raft/snapshot', {
      synopsis: 'A backup of the whole store, and its restore.',
      description:
        'A snapshot is consistent, and taken while the server works. It is a gzip file over a tar archive: `meta.json`, `state.bin`, `SHA256SUMS` and, last, `SHA256SUMS.sealed`. All values in it are encrypted. Whoever may restore one decides about everything that the server holds.',
      fields: {},
    })
      .read({
        summary: 'Takes a snapshot.',
        untimed: true,
        response: streamedAnswer('application/gzip'),
        answers: { 409: Refusal, 501: Refusal },
        handle: async () => ({ stream: (await snapshots.take()).body, headers: { 'Content-Disposition': 'attachment' } }),
      })
      .update({
        summary: 'Restores a snapshot of this cluster.',
        bodyType: 'application/gzip',
        untimed: true,
        response: Restored,
        answers: { 409: Refusal, 501: Refusal },
        handle: async (req) => restore(req, false),
      }),
    path('storage/raft/snapshot-force', {
      synopsis: 'Restores a snapshot of any cluster.',
      description:
        'As `storage/raft/snapshot`, without the check that this server has the keys of the snapshot: afterwards it is unsealed with those.',
      fields: {},
    }).update({
      summary: 'Restores a snapshot of any cluster.',
      bodyType: 'application/gzip',
      untimed: true,
      response: Restored,
      answers: { 409: Refusal, 501: Refusal },
      handle: async (req) => restore(req, true),
    }),
  ];
}

/** @throws BadRequest where the body ends before its end */
async function* arriving(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new BadRequest(`the snapshot did not arrive: ${(error as Error).message}`);
  }
}
