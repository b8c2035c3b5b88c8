import { mapConcurrently, type Clock } from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { Store } from '../../kernel/storage/store.ts';
import { dueBound, parseDueKey, SCHEDULE } from '../../kernel/work/schedule-index.ts';
import type { AuditBroker } from '../audit/audit-broker.ts';
import type { Journal } from '../journal/journal.ts';
import type { LeaseStore } from '../leases/lease-store.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { UsablePlugins } from '../plugins/usable-plugins.ts';
import type { Removals } from '../removal/removals.ts';
import type { SealHealth } from '../seal/seal-health.ts';
import type { TokenStore } from '../tokens/token-store.ts';
import type { Found, Right, Trouble } from './attention-item.ts';

export interface ServerTroublesParts {
  readonly clock: Clock;
  readonly store: Store;
  readonly audit: AuditBroker;
  readonly journal: Journal;
  readonly leases: LeaseStore;
  readonly nodes: Pick<Nodes, 'list'>;
  readonly plugins: UsablePlugins;
  readonly removals: Removals;
  readonly sealHealth: Pick<SealHealth, 'failing'>;
  readonly tokens: TokenStore;
  readonly mount: (uuid: string) => Mount | undefined;
}

/** Things of one kind that are read. */
const MOST = 500;
/** Work that is due for longer than this is late. Milliseconds. */
const LATE = 120_000;
/** A token that ends within this time needs a person. Milliseconds. */
const SOON = 3 * 86_400_000;

const nothing = { since: undefined, attempts: 0, nextAttempt: undefined, target: undefined, mount: undefined } as const;

/** One source of what needs a person, and who may see any of it. */
export interface Source {
  readonly right: Right;
  read(): Promise<Found>;
}

/** What needs a person at the server itself, each with the path that a caller must be able to read. */
export function serverTroubles(parts: ServerTroublesParts): Source[] {
  const source = (right: Right, read: (rights: readonly Right[]) => Promise<Found>): Source => ({ right, read: async () => read([right]) });
  return [
    source({ path: 'sys/leases', operation: 'read', sudo: true }, async (rights) => irrevocableLeases(parts, rights)),
    source({ path: 'sys/journal', operation: 'read', sudo: true }, async (rights) => failingIntents(parts, rights)),
    source({ path: 'sys/schedule', operation: 'read', sudo: true }, async (rights) => lateWork(parts, rights)),
    source({ path: 'sys/audit', operation: 'read', sudo: true }, async (rights) => failingDevices(parts, rights)),
    source({ path: 'sys/seal-backend-status', operation: 'read' }, async (rights) => failingSeals(parts, rights)),
    source({ path: 'sys/removals', operation: 'read', sudo: true }, async (rights) => failingRemovals(parts, rights)),
    source({ path: 'sys/nodes', operation: 'read' }, async (rights) => missingNodes(parts, rights)),
    source({ path: 'sys/plugins/catalog', operation: 'read' }, async (rights) => refusedPlugins(parts, rights)),
    source({ path: 'auth/token/accessors/', operation: 'list', sudo: true }, async (rights) => watchedTokens(parts, rights)),
  ];
}

async function irrevocableLeases({ leases, mount }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const found = await leases.irrevocable(MOST + 1);
  const troubles = found.slice(0, MOST).map(({ id, record }): Trouble => {
    const at = mount(record.mount);
    return {
      kind: 'lease',
      severity: 'critical',
      mount: at,
      subject: { noun: 'lease', name: id, path: record.path, retry: `sys/leases/requeue/${id}` },
      message: record.revoke_error ?? 'it could not be revoked',
      since: record.failing_since === undefined ? new Date(record.expires) : new Date(record.failing_since),
      attempts: record.attempts,
      nextAttempt: new Date(record.due),
      target: leases.systemOf(record),
      rights,
    };
  });
  return { troubles, complete: found.length <= MOST };
}

async function failingIntents({ journal, mount }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const found = await journal.list({ failing: true, limit: MOST + 1 });
  const troubles = found.slice(0, MOST).map((intent): Trouble => {
    const { leaves } = intent;
    return {
      kind: 'journal',
      severity: 'warning',
      mount: mount(intent.mount),
      subject: {
        noun: leaves?.kind ?? `unfinished change (${intent.kind})`,
        name: leaves?.name ?? intent.id,
        path: `sys/journal/${intent.id}`,
        retry: `sys/journal/${intent.id}/retry`,
      },
      message: intent.lastError?.message ?? 'it could not be undone yet',
      since: intent.failingSince,
      attempts: intent.attempts,
      nextAttempt: intent.nextAttempt,
      target: intent.target,
      rights,
    };
  });
  return { troubles, complete: found.length <= MOST };
}

/** The head of the schedule: what is due and was not started. */
async function lateWork({ store, clock }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const keys = await store.keys({ prefix: SCHEDULE, before: dueBound(clock.millis() - LATE), limit: MOST + 1 });
  const [first] = keys;
  const oldest = first === undefined ? undefined : parseDueKey(first);
  if (!oldest) return { troubles: [], complete: true };
  const many =
    keys.length > MOST
      ? `more than ${MOST} pieces of work are`
      : keys.length === 1
        ? '1 piece of work is'
        : `${keys.length} pieces of work are`;
  const message = `${many} overdue by 2 minutes or more: the server is overloaded, or its storage fails`;
  const subject = { noun: 'schedule', name: oldest.kind, path: 'sys/schedule' };
  return {
    troubles: [{ ...nothing, kind: 'late', severity: 'warning', subject, message, since: new Date(oldest.at), rights }],
    complete: true,
  };
}

async function failingDevices({ audit }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const troubles = audit.list().flatMap(({ path, type, status }): Trouble[] => {
    if (status.state === 'healthy') return [];
    const since = status.last_error_time === null ? undefined : new Date(status.last_error_time);
    const message = status.last_error ?? (status.state === 'stalled' ? 'a write hangs' : 'the last write failed');
    const subject = { noun: `${type} audit device`, name: path, path: 'sys/audit' };
    return [{ ...nothing, kind: 'audit', severity: 'critical', subject, message, since, attempts: status.failed, rights }];
  });
  return { troubles, complete: true };
}

/** A server that no seal opens any more is one restart away from being sealed. */
async function failingSeals({ sealHealth }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const { seals, alone } = sealHealth.failing;
  const troubles = seals.map(({ name, type, since, message, attempts, next }): Trouble => {
    const subject = {
      noun: 'seal',
      name: name === type ? name : `${name} (${type})`,
      path: 'sys/seal-backend-status',
      retry: 'sys/sealwrap/rewrap',
    };
    return {
      ...nothing,
      kind: 'seal',
      severity: alone ? 'critical' : 'warning',
      subject,
      message,
      since,
      attempts,
      nextAttempt: next,
      rights,
    };
  });
  return { troubles, complete: true };
}

async function failingRemovals({ removals }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const troubles = (await removals.underWay()).flatMap((removal): Trouble[] => {
    const [reason] = removal.reasons;
    if (reason === undefined) return [];
    const subject = { noun: 'mount', name: removal.path, path: `sys/removals/${removal.path}` };
    const message = removal.reasons.length === 1 ? reason : `${reason}, and ${removal.reasons.length - 1} more reasons`;
    return [
      {
        ...nothing,
        kind: 'removal',
        severity: 'warning',
        subject,
        message,
        since: new Date(removal.since),
        attempts: removal.attempts,
        nextAttempt: new Date(removal.due),
        rights,
      },
    ];
  });
  return { troubles, complete: true };
}

async function missingNodes({ nodes }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const troubles = (await nodes.list()).flatMap(({ hostname, address, state, seen }): Trouble[] => {
    if (state === 'active') return [];
    const subject = { noun: 'server', name: address === '' ? hostname : address, path: 'sys/nodes' };
    const message =
      state === 'sealed' ? 'the server is sealed and serves nothing' : 'the server ended without being stopped, or cannot reach the store';
    return [{ ...nothing, kind: 'node', severity: 'critical', subject, message, since: new Date(seen), rights }];
  });
  return { troubles, complete: true };
}

async function refusedPlugins({ plugins }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const troubles = plugins.refused.map(({ plugin, reason }): Trouble => {
    const subject = { noun: `${plugin.kind} plugin`, name: plugin.name, path: 'sys/plugins/catalog' };
    return { ...nothing, kind: 'plugin', severity: 'notice', subject, message: reason, rights };
  });
  return { troubles, complete: true };
}

/** Root tokens without end, and tokens made to last that end soon. */
async function watchedTokens({ tokens, clock }: ServerTroublesParts, rights: readonly Right[]): Promise<Found> {
  const now = clock.millis();
  const found = await tokens.watched(now + SOON, MOST + 1);
  const troubles: Trouble[] = [];
  await mapConcurrently(found.slice(0, MOST), 16, async (digest) => {
    const record = (await tokens.byDigest(digest).catch(() => undefined))?.record;
    if (!record || record.revoking === true || (record.expires !== 0 && record.expires <= now)) return;
    const root = record.policies.includes('root');
    const subject = { noun: root ? 'root token' : 'token', name: record.display_name, path: record.accessor };
    const message =
      record.expires === 0
        ? 'a root token without end can do everything, and never ends: revoke it when the work is done'
        : `${root ? 'the root token' : 'the token'} ends at ${new Date(record.expires).toISOString()}, and what uses it stops then`;
    const since = new Date(record.expires === 0 ? record.created : record.expires);
    troubles.push({ ...nothing, kind: 'token', severity: root ? 'warning' : 'notice', subject, message, since, rights });
  });
  return { troubles, complete: found.length <= MOST };
}
