import { BadRequest, f, path, PermissionDenied, type AnyPath, type Caller } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { internalOf } from '../../services/caller/internal-request.ts';
import type { LeaseRow } from '../../services/overview/lease-row.ts';
import type { LeaseTimeline, Look } from '../../services/overview/lease-timeline.ts';
import type { LeaseTree } from '../../services/overview/lease-tree.ts';

export interface LeaseOverviewDeps {
  readonly leaseTimeline: LeaseTimeline;
  readonly leaseTree: LeaseTree;
  readonly now: () => number;
}

/** Milliseconds of the span where the caller names no end. */
const DAY = 86_400_000;
/** Behind every time that the schedule knows. */
const LAST = 99_999_999_999_999;
const MOST = 1_000;

const Time = Type.String({ format: 'date-time' });
const next = Type.Optional(
  Type.String({ description: 'There may be more: the next call with this as `after` goes on here. Absent at the end.' }),
);

const Row = Type.Object({
  lease_id: Type.String(),
  type: Type.Unsafe<LeaseRow['type']>({ type: 'string', enum: ['secret', 'token'] }),
  state: Type.Unsafe<LeaseRow['state']>({
    type: 'string',
    enum: ['live', 'revoking', 'waiting', 'irrevocable', 'damaged'],
    description:
      '`waiting`: a revocation failed or was postponed, and is tried again. `irrevocable`: it failed six times, and is tried once a day.',
  }),
  path: Type.String({ description: 'What was read or written to get it.' }),
  issue_time: Time,
  expire_time: Time,
  last_renewal: Type.Union([Time, Type.Null()]),
  renewable: Type.Boolean(),
  accessor: Type.Union([Type.String(), Type.Null()], {
    description: 'Of the token that it was issued to.',
  }),
  next_attempt: Type.Union([Time, Type.Null()], { description: 'When the revocation is tried; null for a live lease.' }),
  attempts: Type.Integer({ description: 'Failed revocations.' }),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why the last one failed.' }),
});

const Rows = Type.Object({ leases: Type.Array(Row), next });

const Histogram = Type.Object({
  from: Time,
  to: Time,
  buckets: Type.Array(Type.Object({ from: Time, secrets: Type.Integer(), tokens: Type.Integer() })),
  secrets: Type.Integer({ description: 'The sum of all buckets.' }),
  tokens: Type.Integer({ description: 'The sum of all buckets.' }),
  next,
});

const Tree = Type.Object({
  folders: Type.Array(
    Type.Object({
      name: Type.String(),
      leases: Type.Integer(),
      more: Type.Boolean({ description: 'There are more than `leases`: counting stopped.' }),
    }),
  ),
  leases_here: Type.Integer({ description: 'Leases of this path itself, as far as this call has read.' }),
  next,
});

const Totals = Type.Object({
  leases: Type.Integer({ description: 'Of secrets and tokens. With `next`: what this call has counted, to be added to the next.' }),
  failing: Type.Integer({ description: 'Leases whose revocation failed or was postponed.' }),
  irrevocable: Type.Integer({ description: 'Those of them that are tried once a day only.' }),
  failing_more: Type.Boolean({ description: 'There are more failing ones than were counted.' }),
  next,
});

const prefix = f.string('A path, for the leases below it, or the id of one lease. Empty: all.', { default: '' });
const after = f.string('The `next` of an earlier answer.');
const limit = f.int('At most this many.', { default: 100, minimum: 1, maximum: MOST });
const spanFields = {
  from: f.time('The beginning. Default: now.'),
  to: f.time('The end, which is not part of it. Default: a day after the beginning.'),
  prefix,
  after,
};

/**
 * `sys/leases/histogram`, `expiring`, `tree`, `totals` and `failing`: leases as operators look at them. Every call reads a bounded number of entries. Each needs
 * `sudo`; `histogram`, `tree` and `totals` of a prefix are for those too who may list, with `sudo`, all of `sys/leases/lookup/<prefix>/`.
 */
export function leaseOverviewPaths({ leaseTimeline: timeline, leaseTree: tree, now }: LeaseOverviewDeps): AnyPath[] {
  const look = (data: { from: Date | undefined; to: Date | undefined; prefix: string; after: string | undefined }): Look => {
    const from = timeOf('from', data.from) ?? now();
    const to = timeOf('to', data.to) ?? from + DAY;
    if (to <= from) throw new BadRequest('to: must be later than from');
    return { from, to, prefix: cleaned(data.prefix), after: data.after || undefined };
  };
  return [
    path('leases/histogram', {
      synopsis: 'How many leases end when.',
      description:
        'Divides a span of time into buckets and counts the leases that end in each; one that is being revoked counts at its next try. Counts are exact. A call reads 50,000 entries at most, with a prefix 5,000: where there are more it answers `next`, and the counts of the next call are to be added. Needs `sudo`, or with a prefix `list` and `sudo` on all of `sys/leases/lookup/<prefix>/`.',
      fields: { ...spanFields, buckets: f.int('How many.', { default: 60, minimum: 1, maximum: MOST }) },
    }).read({
      summary: 'Counts leases by their ends.',
      response: Histogram,
      handle: async (req) => {
        requireRight(req, cleaned(req.data.prefix));
        const { data } = req;
        const span = look(data);
        const counted = await timeline.histogram(span, data.buckets);
        return {
          data: {
            from: iso(span.from),
            to: iso(span.to),
            buckets: counted.buckets.map((bucket) => ({ ...bucket, from: iso(bucket.from) })),
            secrets: sum(counted.buckets.map(({ secrets }) => secrets)),
            tokens: sum(counted.buckets.map(({ tokens }) => tokens)),
            ...nextOf(counted),
          },
        };
      },
    }),
    path('leases/expiring', {
      synopsis: 'The leases that end in a span of time, with what is known of each.',
      description:
        'In the order of their ends; one that is being revoked comes at its next try. With a prefix of many leases, a call may answer `next` and fewer than `limit`, or none: it reads 50,000 entries at most.',
      access: 'sudo',
      fields: { ...spanFields, limit },
    }).read({
      summary: 'Lists leases by their ends.',
      response: Rows,
      handle: async ({ data }) => pageOf(await timeline.expiring(look(data), atMost(data.limit))),
    }),
    path('leases/tree', {
      synopsis: 'The next level of paths below a prefix, with the number of leases of each.',
      description:
        'Counts up to 1,000 leases of each folder, in long lists up to 100; `more` says that there are more. `sys/leases/totals` counts them all. Needs `sudo`, or with a prefix `list` and `sudo` on all of `sys/leases/lookup/<prefix>/`.',
      fields: { prefix, after, limit },
    }).read({
      summary: 'Lists paths with leases.',
      response: Tree,
      handle: async (req) => {
        requireRight(req, cleaned(req.data.prefix));
        const { data } = req;
        const level = await tree.level(cleaned(data.prefix), { after: data.after || undefined, limit: atMost(data.limit) });
        return {
          data: {
            folders: level.folders.map(({ name, count, more }) => ({ name, leases: count, more })),
            leases_here: level.here,
            ...nextOf(level),
          },
        };
      },
    }),
    path('leases/totals', {
      synopsis: 'How many leases there are below a prefix, and how many of them cannot be revoked.',
      description:
        'Shows how far `sys/leases/revoke-prefix` has come, and what it leaves over. Counts are exact. A call counts 50,000 leases at most: where there are more it answers `next`, and the count of the next call is to be added. `failing` is in the first answer. Needs `sudo`, or with a prefix `list` and `sudo` on all of `sys/leases/lookup/<prefix>/`.',
      fields: { prefix, after },
    }).read({
      summary: 'Counts leases.',
      response: Totals,
      handle: async (req) => {
        requireRight(req, cleaned(req.data.prefix));
        const { data } = req;
        const { leases, failing, ...rest } = await tree.totals(cleaned(data.prefix), data.after || undefined);
        return {
          data: { leases, failing: failing.count, irrevocable: failing.irrevocable, failing_more: failing.more, ...nextOf(rest) },
        };
      },
    }),
    path('leases/failing', {
      synopsis: 'The leases whose revocation failed or was postponed, with the reason.',
      description: 'Also those that are not irrevocable yet. `sys/leases/requeue` tries them again now.',
      access: 'sudo',
      fields: { prefix, after, limit },
    }).read({
      summary: 'Lists failing revocations.',
      response: Rows,
      handle: async ({ data }) =>
        pageOf(await tree.failing(cleaned(data.prefix), { after: data.after || undefined, limit: atMost(data.limit) })),
    }),
  ];
}

interface Asked {
  readonly caller: Pick<Caller, 'sudo'>;
  readonly data: { readonly prefix: string };
}

/**
 * The numbers of all leases need `sudo`; those below a prefix, that the caller may list everything there. The rows of `expiring` and `failing` always need `sudo`:
 * where they end, they name what comes next, whatever its path. @throws PermissionDenied
 */
function requireRight(req: Asked, prefix: string): void {
  if (req.caller.sudo) return;
  if (prefix === '' || internalOf(req).acl?.listsAll(`sys/leases/lookup/${prefix}/`) !== true) throw new PermissionDenied();
}

function pageOf(page: { readonly rows: readonly LeaseRow[]; readonly next?: string }): { data: Static<typeof Rows> } {
  return { data: { leases: page.rows.map(rowData), ...nextOf(page) } };
}

function rowData(row: LeaseRow): Static<typeof Row> {
  return {
    lease_id: row.id,
    type: row.type,
    state: row.state,
    path: row.path,
    issue_time: iso(row.issued),
    expire_time: iso(row.expires),
    last_renewal: row.lastRenewal === undefined ? null : iso(row.lastRenewal),
    renewable: row.renewable,
    accessor: row.accessor ?? null,
    next_attempt: row.state === 'live' ? null : iso(row.due),
    attempts: row.attempts,
    error: row.error ?? null,
  };
}

/** As paths are written: no slash around. */
function cleaned(text: string): string {
  return text.replace(/^\/+|\/+$/g, '');
}

/** @throws BadRequest */
function timeOf(name: string, date: Date | undefined): number | undefined {
  if (!date) return undefined;
  const time = date.getTime();
  if (time < 0 || time > LAST) throw new BadRequest(`${name}: must be between 1970 and the year 5138`);
  return time;
}

/** The limit that a policy puts in may be larger. */
function atMost(asked: number): number {
  return Math.min(MOST, asked);
}

function nextOf({ next: found }: { readonly next?: string }): { next?: string } {
  return found === undefined ? {} : { next: found };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
