import {
  type AnyPath,
  BadRequest,
  boundsOf,
  EngineError,
  type EngineResponse,
  f,
  ListedKeys,
  NoContent,
  orNoContent,
  pageFields,
  path,
  RenewedLease,
  Seconds,
  Timestamp,
  Warned,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { BulkRevoker } from '../../services/revocation/bulk-revoker.ts';
import { isLive } from '../../services/leases/lease-record.ts';
import type { LeaseStore } from '../../services/leases/lease-store.ts';
import { leftData, leftWarning, LeftOutsideData } from '../../services/outside/left-outside.ts';
import { internalOf, reply } from '../../services/caller/internal-request.ts';
import type { TokenRevoker } from '../../services/tokens/token-revoker.ts';
import type { TokenStore } from '../../services/tokens/token-store.ts';

export interface LeasePathDeps {
  readonly leases: LeaseStore;
  readonly tokens: TokenStore;
  readonly revoker: TokenRevoker;
  readonly bulk: BulkRevoker;
  readonly now: () => number;
}

const Lease = Type.Object({
  expire_time: Timestamp,
  id: Type.String(),
  issue_time: Timestamp,
  last_renewal: Type.Union([Timestamp, Type.Null()]),
  renewable: Type.Boolean(),
  ttl: Seconds,
  path: Type.String(),
  revoke_error: Type.Optional(Type.String({ description: 'Why it could not be revoked.' })),
  revoke_attempts: Type.Optional(
    Type.Integer({ description: 'How often that was tried. While its system does not respond it is not tried.' }),
  ),
  revoke_next_attempt: Type.Optional({ ...Timestamp, description: 'The earliest time at which it is tried again.' }),
});
const Irrevocable = Type.Object({ lease_id: Type.String(), mount_id: Type.String(), error: Type.String() });

/** `sys/leases/…` */
export function leasePaths(deps: LeasePathDeps): AnyPath[] {
  const { leases, tokens, revoker, bulk, now } = deps;
  const leaseId = f.string('The lease.');
  const sync = f.bool('Answer when it is done; false queues it.', { default: true });

  const lookup = async (id: string): Promise<{ data: Static<typeof Lease> }> => {
    const lease = await leases.find(id);
    if (!lease) {
      const record = (await leases.isOfToken(id)) ? (await tokens.byDigest(id.slice(id.lastIndexOf('/') + 1)))?.record : undefined;
      if (!record) throw new BadRequest('invalid lease');
      return {
        data: {
          expire_time: new Date(record.expires).toISOString(),
          id,
          issue_time: new Date(record.created).toISOString(),
          last_renewal: record.last_renewal === undefined ? null : new Date(record.last_renewal).toISOString(),
          renewable: record.renewable,
          ttl: Math.max(0, Math.ceil((record.expires - now()) / 1_000)),
          path: record.path,
        },
      };
    }
    return {
      data: {
        expire_time: new Date(lease.expires).toISOString(),
        id,
        issue_time: new Date(lease.issued).toISOString(),
        last_renewal: lease.last_renewal === undefined ? null : new Date(lease.last_renewal).toISOString(),
        renewable: lease.renewable && isLive(lease, now()),
        ttl: Math.max(0, Math.ceil((lease.expires - now()) / 1_000)),
        path: lease.path,
        ...(lease.revoke_error === undefined
          ? {}
          : {
              revoke_error: lease.revoke_error,
              revoke_attempts: lease.attempts,
              revoke_next_attempt: new Date(lease.due).toISOString(),
            }),
      },
    };
  };
  const renew = async (id: string | undefined, increment: number, signal: AbortSignal): Promise<EngineResponse<never>> => {
    if (!id) throw new BadRequest('lease_id must be specified');
    const lease = await leases.renew(id, increment, signal);
    return reply({
      leaseId: lease.id,
      leaseDuration: lease.ttl,
      renewable: lease.renewable,
      warnings: lease.warnings.length > 0 ? lease.warnings : null,
    });
  };
  const revoke = async (id: string | undefined, wait: boolean, signal: AbortSignal): Promise<EngineResponse<never> | undefined> => {
    if (!id) throw new BadRequest('lease_id must be specified');
    const found = await leases.find(id);
    if (found) {
      if (!wait) {
        await leases.revokeSoon(id);
        return { status: 202, raw: { contentType: 'application/json', body: '' } } as EngineResponse<never>;
      }
      try {
        await leases.revoke(id, { signal });
      } catch (error) {
        throw new BadRequest(error instanceof EngineError ? error.message : `failed to revoke entry: ${String(error)}`);
      }
    } else if (await leases.isOfToken(id)) await revoker.revoke(id.slice(id.lastIndexOf('/') + 1), signal);
    return undefined;
  };
  const incrementFields = { lease_id: leaseId, increment: f.duration('Seconds from now that are asked for.', { default: 0 }) };
  const renewAbout = { synopsis: 'Renews a lease.', description: 'As far as the engine and the limits of the mount allow.' };
  const revokeAbout = { synopsis: 'Revokes a lease.', description: 'The credential is taken back; an unknown lease is no error.' };

  return [
    path('leases/lookup', {
      synopsis: 'What a lease is.',
      description: 'Times and ttl; never the credential.',
      fields: { lease_id: leaseId },
    }).update({
      summary: 'Looks up a lease.',
      response: Lease,
      handle: async ({ data }) => {
        if (!data.lease_id) throw new BadRequest('lease_id must be specified');
        return lookup(data.lease_id);
      },
    }),
    path('leases/lookup/{prefix:all}', {
      synopsis: 'The leases below a path.',
      description: 'One level at a time.',
      access: 'sudo',
      fields: { prefix: f.name('The path.'), ...pageFields },
    }).list({
      summary: 'Lists leases.',
      response: ListedKeys,
      handle: async ({ data }) => ({ data: { keys: await leases.folder(data.prefix === '' ? '' : `${data.prefix}/`, boundsOf(data)) } }),
    }),
    path('leases/renew', { ...renewAbout, fields: incrementFields }).update({
      summary: 'Renews a lease.',
      response: RenewedLease,
      handle: async ({ data, signal }) => renew(data.lease_id, data.increment, signal),
    }),
    path('leases/renew/{url_lease_id:all}', { ...renewAbout, fields: { ...incrementFields, url_lease_id: f.name('The lease.') } }).update({
      summary: 'Renews a lease.',
      response: RenewedLease,
      handle: async ({ data, signal }) => renew(data.lease_id || data.url_lease_id, data.increment, signal),
    }),
    path('leases/revoke', { ...revokeAbout, fields: { lease_id: leaseId, sync } }).update({
      summary: 'Revokes a lease.',
      response: NoContent,
      answers: { 202: NoContent },
      handle: async ({ data, signal }) => revoke(data.lease_id, data.sync, signal),
    }),
    path('leases/revoke-own', {
      synopsis: 'Revokes a lease that was issued to the token that is used.',
      description:
        'The credential is taken back before the answer. In the `default` policy: a token can end its leases one by one, as `auth/token/revoke-self` ends all of them.',
      fields: { lease_id: f.string('The lease.', { required: true }) },
    }).update({
      summary: 'Revokes a lease of the token.',
      response: NoContent,
      handle: async (req) => {
        const id = req.data.lease_id;
        const { token } = internalOf(req);
        const lease = await leases.find(id);
        // Whether another token has such a lease is nobody else's business.
        if (!lease || !token || lease.token !== token.digest) throw new BadRequest('the token has no lease with this id');
        await leases.revoke(id, { signal: req.signal });
        return undefined;
      },
    }),
    path('leases/revoke/{url_lease_id:all}', {
      ...revokeAbout,
      fields: { lease_id: leaseId, sync, url_lease_id: f.name('The lease.') },
    }).update({
      summary: 'Revokes a lease.',
      response: NoContent,
      answers: { 202: NoContent },
      handle: async ({ data, signal }) => revoke(data.lease_id || data.url_lease_id, data.sync, signal),
    }),
    path('leases/revoke-prefix/{prefix:all}', {
      synopsis: 'Revokes all leases below a path.',
      description: 'Tokens made below the path are revoked too. Stops at the first that cannot be taken back.',
      access: 'sudo',
      fields: { prefix: f.name('The path.'), sync },
    }).update({
      summary: 'Revokes by prefix.',
      response: NoContent,
      answers: { 202: NoContent },
      handle: async ({ data }) => {
        if (data.prefix === '') throw new BadRequest('prefix must be specified');
        if (!data.sync) {
          await bulk.queue(data.prefix);
          return { status: 202, raw: { contentType: 'application/json', body: '' } };
        }
        await bulk.revoke(data.prefix);
        return undefined;
      },
    }),
    path('leases/revoke-force/{prefix:all}', {
      synopsis: 'Drops all leases below a path.',
      description:
        'Also those whose credential cannot be taken back: these are answered as `left_outside`. The path of one lease drops that one alone.',
      access: 'sudo',
      fields: { prefix: f.name('The path.') },
    }).update({
      summary: 'Revokes by prefix, whatever the engine says.',
      response: orNoContent(Type.Object({ left_outside: Type.Array(LeftOutsideData) })),
      handle: async ({ data }) => {
        if (data.prefix === '') throw new BadRequest('prefix must be specified');
        const left = await bulk.drop(data.prefix);
        const warning = leftWarning(left);
        return warning === undefined ? undefined : { data: { left_outside: leftData(left) }, warnings: [warning] };
      },
    }),
    path('leases/requeue', {
      synopsis: 'Tries a failing revocation again now.',
      description:
        'For leases that are listed as irrevocable, once their outside system is repaired. It does not end a lease that is in force.',
      access: 'sudo',
      fields: { lease_id: leaseId },
    }).update({
      summary: 'Queues a failing revocation again.',
      response: NoContent,
      handle: async ({ data }) => {
        if (!data.lease_id) throw new BadRequest('lease_id must be specified');
        await leases.requeue(data.lease_id);
        return undefined;
      },
    }),
    path('leases/requeue/{prefix:all}', {
      synopsis: 'Tries all failing revocations below a path again now.',
      description: 'Of leases that are listed as irrevocable, once their outside system is repaired.',
      access: 'sudo',
      fields: { prefix: f.name('The path, or the beginning of one.') },
    }).update({
      summary: 'Queues failing revocations again.',
      response: Type.Object({ requeued: Type.Integer() }),
      handle: async ({ data }) => ({ data: { requeued: await leases.requeueBelow(data.prefix) } }),
    }),
    path('leases/tidy', {
      synopsis: 'Cleans up after leases.',
      description: 'Nothing is left to clean: index entries go in one commit with their lease.',
      fields: {},
    }).update({
      summary: 'Accepted for clients that call it.',
      response: NoContent,
      answers: { 202: Warned },
      handle: async () => ({
        status: 202,
        warnings: ['Tidy operation successfully started. Any information from the operation will be printed to the server logs.'],
      }),
    }),
    path('leases/count', {
      synopsis: 'How many leases cannot be revoked.',
      description: 'type=irrevocable.',
      fields: { type: f.string('irrevocable'), include_child_namespaces: f.bool('Accepted.') },
    }).read({
      summary: 'Counts irrevocable leases.',
      response: Type.Object({
        lease_count: Type.Integer(),
        counts: Type.Record(Type.String(), Type.Integer(), { description: 'By mount.' }),
      }),
      handle: async ({ data }) => {
        if (data.type !== 'irrevocable') return undefined;
        const found = await leases.irrevocable(Infinity);
        const counts: Record<string, number> = {};
        for (const { record } of found) counts[record.mount] = (counts[record.mount] ?? 0) + 1;
        return { data: { lease_count: found.length, counts } };
      },
    }),
    path('leases', {
      synopsis: 'The leases that cannot be revoked.',
      description: 'type=irrevocable. They are still tried once a day.',
      access: 'sudo',
      fields: {
        type: f.string('irrevocable'),
        limit: f.string('The largest number of leases, or "none".'),
        include_child_namespaces: f.bool('Accepted.'),
      },
    }).read({
      summary: 'Lists irrevocable leases.',
      response: Type.Object({ lease_count: Type.Integer(), leases: Type.Array(Irrevocable) }),
      handle: async ({ data }) => {
        if (data.type !== 'irrevocable') return undefined;
        const limit = data.limit === 'none' ? Infinity : Number(data.limit ?? 1_000);
        if (Number.isNaN(limit) || limit < 1) throw new BadRequest('limit must be a positive number, or "none"');
        const found = await leases.irrevocable(limit);
        return {
          data: {
            lease_count: found.length,
            leases: found.map(({ id, record }) => ({ lease_id: id, mount_id: record.mount, error: record.revoke_error ?? '' })),
          },
        };
      },
    }),
  ];
}
