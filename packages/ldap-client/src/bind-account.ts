import { manualPlan, rotationPlanFields, rotationStateFields } from '@strongroom/rotation';
import { Type, type Static, type TObject } from 'typebox';
import { isDn } from './dn.ts';
import { escapeFilterValue } from './escape.ts';
import type { AccountSearch } from './find-account.ts';
import { serverUrls } from './server-urls.ts';

const { current: _isBindpass, ...rootFields } = rotationStateFields(Type.String());

/** What a configuration stores of the rotation of `bindpass`; to spread into its record. */
export const bindAccountFields = {
  /** Where the rotation of bindpass stands; the password itself is `bindpass`. */
  root: Type.Optional(Type.Object(rootFields)),
  /** When bindpass is rotated by itself; absent: on demand alone. */
  plan: Type.Optional(Type.Object(rotationPlanFields)),
};

/** The account that a configuration logs in with, and that rotates its own password. */
export interface BindAccount extends Static<TObject<typeof bindAccountFields>> {
  readonly url: string;
  readonly userdn: string;
  readonly upndomain: string;
  readonly binddn: string;
  readonly bindpass: string;
  readonly schema?: string;
}

/** What a write sends of it. */
export type SentBindAccount = { readonly [K in 'url' | 'binddn' | 'bindpass' | 'upndomain' | 'schema']?: string | undefined };

/** A distinguished name, or one with its domain, is complete; a plain name takes `upndomain`. */
export function bindNameOf({ binddn, upndomain }: Pick<BindAccount, 'binddn' | 'upndomain'>): string {
  return upndomain === '' || isDn(binddn) || /[@\\]/.test(binddn) ? binddn : `${binddn}@${upndomain}`;
}

/** Where the account's own entry is. Active Directory takes a principal name also where the entry does not spell it out. */
export function bindAccountSearch(config: Pick<BindAccount, 'binddn' | 'upndomain' | 'userdn'>): AccountSearch {
  const { binddn } = config;
  if (isDn(binddn)) return { dn: binddn };
  const principal = escapeFilterValue(bindNameOf(config));
  const name = escapeFilterValue(binddn.replace(/^.*\\/, '').replace(/@.*$/, ''));
  return { base: config.userdn, filter: `(|(userPrincipalName=${principal})(sAMAccountName=${name}))` };
}

/** The record as if no rotation of bindpass were under way. */
export function unsettled<R extends BindAccount>(config: R): R {
  if (!config.root?.pending) return config;
  const { pending: _open, ...root } = config.root;
  return { ...config, root };
}

/** Where the account is, and how it logs in. */
const whoBinds = ['url', 'schema', 'binddn', 'upndomain'] as const;

/** Fields that say another thing only where they are written another way. */
const respelt = (before: BindAccount, name: (typeof whoBinds)[number], value: unknown): boolean =>
  name === 'url' && serverUrls(String(value)).join(',') === before.url;

/** The parameter that says of another account, or of another password of it; undefined where all that was sent is as before. */
export function changesRootIn(before: BindAccount, sent: SentBindAccount): string | undefined {
  if (sent.bindpass !== undefined) return 'bindpass';
  return whoBinds.find((name) => sent[name] !== undefined && sent[name] !== before[name] && !respelt(before, name, sent[name]));
}

/**
 * A new bindpass ends the trust in the previous one; what is known of a rotation holds for the account that it was made for, and what was asked
 * for holds for the one that it was asked for.
 */
export function rootAfter(before: BindAccount, sent: SentBindAccount): BindAccount['root'] {
  const { root } = before;
  if (root === undefined) return undefined;
  if (sent.binddn !== undefined && sent.binddn !== before.binddn) return { last_rotation: 0, next_rotation: 0 };
  if (changesRootIn(before, sent) === undefined) return root;
  const { previous, demanded: _asked, ...rest } = root;
  if (sent.bindpass === undefined) return previous === undefined ? rest : { ...rest, previous };
  // Somebody knows the password now: it is not the server's alone, and not yet proven.
  const { managed_account: _released, shelved: _ours, login: _ofTheOther, ...again } = rest;
  return again;
}

/** The plan of a record that may have none. */
export function planOfBind({ plan }: Pick<BindAccount, 'plan'>): NonNullable<BindAccount['plan']> {
  return plan ?? manualPlan;
}
