import { isDeepStrictEqual } from 'node:util';
import { BadRequest, requireSecretsAgain, type Collection } from '@strongroom/engine-sdk';
import { addressFields, connectionUrlFields, connectionUrlPasswords, isSaferValue, secretFields } from '@strongroom/database-sdk';
import { holderIn, requireSudoForPasswords } from '@strongroom/rotation';
import type { TObject } from 'typebox';
import type { ConnectionRecord, StaticRoleRecord } from './records.ts';

type Details = Readonly<Record<string, unknown>>;

/**
 * A stored secret is sent to no address that was written without it: every field counts that the plugin does not exempt.
 * @throws BadRequest that names the changed fields and the secrets to send again
 */
export function requireSecretsForAddress(change: {
  readonly before: ConnectionRecord | undefined;
  readonly after: ConnectionRecord;
  /** What `changedAddress` gives. */
  readonly changed: readonly string[];
  /** The parameters of the plugin that were sent. */
  readonly sent: Details;
  /** Of the plugin after the write. */
  readonly schema: TObject;
  readonly sudo: boolean;
}): void {
  const { before, after, changed, sent, schema, sudo } = change;
  if (!before) return;
  const isSelfManaged = (before.self_managed ?? false) || (after.self_managed ?? false);
  if (isSelfManaged && changed.length > 0 && !sudo) {
    throw new BadRequest(
      `self_managed: the passwords of static roles would be sent to what is new (${changed.join(', ')}); a token with sudo on this path may change that, or make another connection`,
    );
  }
  requireSecretsAgain({ changed, kept: keptSecrets(before, after, sent, schema), sudo });
}

/**
 * While the outcome of a rotation is open, the new password of a static role is tried, wherever the connection leads by then: another address is given by a
 * caller with sudo alone. @throws BadRequest
 */
export async function requireRolesAtRest(
  roles: Pick<Collection<StaticRoleRecord>, 'entries'>,
  { name, changed, sudo }: { readonly name: string; readonly changed: readonly string[]; readonly sudo: boolean },
): Promise<void> {
  const holder = async (): Promise<string | undefined> => {
    const role = await holderIn(roles, ({ db_name, pending, shelved }) => db_name === name && (pending ?? shelved) !== undefined);
    return role === undefined ? undefined : `static role "${role}", whose rotation is not finished`;
  };
  await requireSudoForPasswords({ changed, holder, sudo });
}

/** The fields by which a write leads to another address, or there less safely. A connection that was deleted is forgotten, so that any is another one then. */
export function changedAddress(before: ConnectionRecord | undefined, after: ConnectionRecord, schema: TObject): readonly string[] {
  const details = before?.details ?? {};
  const names = new Set([...Object.keys(details), ...Object.keys(after.details)]);
  const urls = new Set(connectionUrlFields(schema));
  const isKept = (name: string): boolean => {
    const values = [details[name], after.details[name]] as const;
    return urls.has(name) ? isSame(...(values.map(withoutEmptyQuery) as [unknown, unknown])) : isSame(...values);
  };
  const moved = [...names].filter((name) => !isKept(name) && !isSaferValue(schema, name, after.details[name]));
  return [...(before?.plugin_name === after.plugin_name ? [] : ['plugin_name']), ...addressFields(schema, moved)];
}

/** Secrets that stay as they were. A private key is never sent anywhere: it signs. */
function keptSecrets(before: ConnectionRecord, { details }: ConnectionRecord, sent: Details, schema: TObject): string[] {
  const urls = connectionUrlFields(schema).filter(
    (name) => typeof details[name] === 'string' && connectionUrlPasswords(String(details[name])).length > 0,
  );
  const names = new Set([...secretFields(schema), ...(before.secret_fields ?? []), ...urls]);
  return [...names].filter((name) => {
    const value = details[name];
    return !(name in sent) && value !== undefined && value !== '' && !(typeof value === 'string' && value.includes('PRIVATE KEY-----'));
  });
}

/** Clients send numbers and booleans as text. */
function isSame(a: unknown, b: unknown): boolean {
  if (isDeepStrictEqual(a, b)) return true;
  return a !== undefined && b !== undefined && typeof a !== 'object' && typeof b !== 'object' && String(a) === String(b);
}

/** An empty query says nothing: `postgresql://db/app?` leads where `postgresql://db/app` does. */
function withoutEmptyQuery(url: unknown): unknown {
  return typeof url === 'string' ? url.replace(/\?\s*$/, '') : url;
}
