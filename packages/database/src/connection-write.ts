import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { BadRequest, TooManyRequests } from '@strongroom/engine-sdk';
import { secretFields } from '@strongroom/database-sdk';
import { rootPlanOf, type SentPlan } from '@strongroom/rotation';
import type { TObject } from 'typebox';
import { limitsAfter, type SentLimits } from './connection-limits.ts';
import { unsettled, type ConnectionRecord } from './records.ts';

/** What a write to a connection sends; `details` are the parameters of the plugin, and null removes one. */
export interface ConnectionWrite extends SentLimits, Omit<SentPlan, 'first_rotation_offset'> {
  readonly plugin_name: string | undefined;
  readonly plugin_version: string | undefined;
  readonly verify_connection: boolean | undefined;
  readonly skip_static_role_import_rotation: boolean | undefined;
  readonly self_managed: boolean | undefined;
  readonly allowed_roles: string[] | undefined;
  readonly root_rotation_statements: string[] | undefined;
  readonly password_policy: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The record after the write. A root password that is sent ends the doubt about the one before, and what was asked for while that was in place. */
export function written(before: ConnectionRecord | undefined, write: ConnectionWrite): ConnectionRecord {
  const pluginName = write.plugin_name ?? before?.plugin_name ?? '';
  if (pluginName === '') throw new BadRequest('empty plugin name');
  const sent = Object.entries(write.details);
  const details = Object.fromEntries([...Object.entries(before?.details ?? {}), ...sent].filter(([, value]) => value !== undefined));
  for (const [key, value] of sent) if (value === null) delete details[key];
  return {
    id: randomUUID(),
    ...(before && namesRoot(write) ? withoutTrouble(before) : before),
    revision: (before?.revision ?? 0) + 1,
    plugin_name: pluginName,
    plugin_version: write.plugin_version ?? before?.plugin_version ?? '',
    allowed_roles: write.allowed_roles ?? before?.allowed_roles ?? [],
    root_rotation_statements: write.root_rotation_statements ?? before?.root_rotation_statements ?? [],
    password_policy: write.password_policy ?? before?.password_policy ?? '',
    verify_connection: write.verify_connection ?? before?.verify_connection ?? true,
    skip_static_role_import_rotation: write.skip_static_role_import_rotation ?? before?.skip_static_role_import_rotation ?? false,
    ...selfManaged(before, write, details),
    limits: limitsAfter(before?.limits, write),
    plan: rootPlanOf(before?.plan, write),
    details,
  };
}

/** @throws BadRequest where the connection also has a user of its own */
function selfManaged(
  before: ConnectionRecord | undefined,
  write: ConnectionWrite,
  details: Readonly<Record<string, unknown>>,
): { self_managed?: boolean } {
  const isSelfManaged = write.self_managed ?? before?.self_managed;
  if (isSelfManaged === undefined) return {};
  const own = ['username', 'password'].find((field) => details[field] !== undefined && details[field] !== '');
  if (isSelfManaged && own !== undefined) {
    throw new BadRequest(
      `self_managed: such a connection has no user of its own; leave out ${own}, or send null where it is stored, or set self_managed to false`,
    );
  }
  return { self_managed: isSelfManaged };
}

/** The record with the names of its secret fields: those of `schema`, and those of plugins before it that were not sent again. */
export function withSecretFields(
  record: ConnectionRecord,
  write: ConnectionWrite,
  before: ConnectionRecord | undefined,
  schema: TObject,
): ConnectionRecord {
  const left = (before?.secret_fields ?? []).filter((name) => !(name in write.details));
  const names = new Set([...secretFields(schema), ...left].filter((name) => name in record.details));
  return { ...record, secret_fields: [...names] };
}

/**
 * What to store of `record`, which was made from `before` and then verified, over the record that is `current` by now: a rotation of the root
 * password that began in between is kept. Undefined where the write has to be begun again. @throws TooManyRequests
 */
export function reconciled(
  name: string,
  record: ConnectionRecord,
  write: ConnectionWrite,
  [before, current]: readonly [ConnectionRecord | undefined, ConnectionRecord | undefined],
  now: number,
): ConnectionRecord | undefined {
  if (current?.id !== before?.id || current?.revision !== before?.revision) return undefined;
  requireNoRotation(name, record, write, current, now);
  if (namesRoot(write)) return current?.root?.pending?.claim === before?.root?.pending?.claim ? record : undefined;
  const { root: _asRead, ...rest } = record;
  return current?.root ? { ...rest, root: current.root } : rest;
}

/** Where the connection leads and as whom is not changed while its root password is being changed there. @throws TooManyRequests */
export function requireNoRotation(
  name: string,
  record: ConnectionRecord,
  write: ConnectionWrite,
  current: ConnectionRecord | undefined,
  now: number,
): void {
  if (!current) return;
  const isSame =
    record.plugin_name === current.plugin_name &&
    record.plugin_version === current.plugin_version &&
    isDeepStrictEqual(record.details, current.details);
  if (namesRoot(write) || !isSame) requireRootAtRest(name, current, now);
}

/** @throws TooManyRequests while the root password is being changed. */
export function requireRootAtRest(name: string, { root }: ConnectionRecord, now: number): void {
  if (root?.pending === undefined || root.pending.until <= now) return;
  throw new TooManyRequests(`the root credential of the connection ${name} is being rotated; try again`, {
    headers: { 'Retry-After': '1' },
  });
}

function namesRoot({ details }: ConnectionWrite): boolean {
  return 'password' in details || 'username' in details;
}

function withoutTrouble(record: ConnectionRecord): ConnectionRecord {
  const settled = unsettled(record);
  if (settled.root?.last_error === undefined) return settled;
  const { last_error: _past, ...root } = settled.root;
  return { ...settled, root };
}
