import { mergeRoleTokens, RoleTokens, roleTokenData, roleTokenFields } from '@strongroom/auth-sdk';
import { BadRequest, f, type Collection, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { parseSelector } from '@strongroom/kubernetes-client';
import { Type, type Static } from 'typebox';

const ALIAS_SOURCES = ['serviceaccount_uid', 'serviceaccount_name'] as const;

/** The selector of a role, and the field that selects all namespaces without it. */
export const NAMESPACE_SELECTOR = {
  name: 'bound_service_account_namespace_selector',
  everywhere: 'bound_service_account_namespaces',
} as const;

/** The parameters of a role, with Vault's and OpenBao's names. */
export const roleFields = {
  bound_service_account_names: f.commaStrings('Names of the service accounts to accept; * matches any characters.'),
  bound_service_account_namespaces: f.commaStrings('Namespaces of the service accounts to accept; * matches any characters.'),
  bound_service_account_namespace_selector: f.string(
    'Label selector for additional namespaces, in JSON or YAML. A write without it removes it.',
  ),
  audience: f.string('The required audience. Without it, a token for any service of the cluster is accepted.'),
  alias_name_source: f.string('What identifies an account: serviceaccount_uid (default), or serviceaccount_name for namespace/name.'),
  ...roleTokenFields(['policies', 'num_uses', 'ttl', 'max_ttl', 'period', 'bound_cidrs']),
} as const;

/** The record at `role/<name>`. */
export const Role = Type.Object({
  bound_service_account_names: Type.Array(Type.String()),
  bound_service_account_namespaces: Type.Array(Type.String()),
  bound_service_account_namespace_selector: Type.String(),
  audience: Type.String(),
  alias_name_source: Type.Union([Type.Literal(ALIAS_SOURCES[0]), Type.Literal(ALIAS_SOURCES[1])]),
  ...RoleTokens.properties,
});
export type Role = Static<typeof Role>;

export function roles(view: StorageView | Transaction): Collection<Role> {
  return view.collection('role/', Role);
}

/** What can be a role's name; nothing else is looked for. */
const NAME = /^[\w.-]{1,900}$/;

/** As a role's path folds it. A text that is no name stays as it is, so that no other letter becomes one of a name. */
export function foldRoleName(text: string): string {
  return NAME.test(text) ? text.toLowerCase() : text;
}

/** Undefined: there is no such role. */
export async function findRole(view: StorageView, name: string): Promise<Role | undefined> {
  return NAME.test(name) ? roles(view).get(name) : undefined;
}

interface RoleData {
  readonly bound_service_account_names?: readonly string[] | undefined;
  readonly bound_service_account_namespaces?: readonly string[] | undefined;
  readonly bound_service_account_namespace_selector?: string | undefined;
  readonly audience?: string | undefined;
  readonly alias_name_source?: string | undefined;
}

/** What a write makes of the stored role. @throws BadRequest that names the parameter */
export async function writtenRole(stored: Role | undefined, data: RoleData, supplied: ReadonlySet<string>): Promise<Role> {
  const names = patterns(data.bound_service_account_names ?? stored?.bound_service_account_names ?? []);
  const namespaces = patterns(data.bound_service_account_namespaces ?? stored?.bound_service_account_namespaces ?? []);
  const selector = (data.bound_service_account_namespace_selector ?? '').trim();
  if (names.length === 0) throw new BadRequest('"bound_service_account_names" can not be empty');
  if (namespaces.length === 0 && selector === '') {
    throw new BadRequest('"bound_service_account_namespaces" can not be empty if "bound_service_account_namespace_selector" is not set');
  }
  for (const list of [names, namespaces]) {
    if (list.length > 1 && list.includes('*')) throw new BadRequest('can not mix "*" with values');
  }
  if (selector !== '') await parseSelector(selector, NAMESPACE_SELECTOR);
  return {
    bound_service_account_names: names,
    bound_service_account_namespaces: namespaces,
    bound_service_account_namespace_selector: selector,
    audience: (data.audience ?? stored?.audience ?? '').trim(),
    alias_name_source: aliasSource(data.alias_name_source ?? stored?.alias_name_source ?? ALIAS_SOURCES[0]),
    ...mergeRoleTokens(stored, { ...data }, supplied),
  };
}

/** What a read shows: `audience` only where it is set. */
export function roleData(role: Role): Record<string, unknown> {
  const { alias_name_source, audience, bound_service_account_names, bound_service_account_namespaces } = role;
  const { bound_service_account_namespace_selector } = role;
  return {
    alias_name_source,
    ...(audience === '' ? {} : { audience }),
    bound_service_account_names,
    bound_service_account_namespace_selector,
    bound_service_account_namespaces,
    ...roleTokenData(role),
  };
}

/** What is allowed, but lets in more than one would think. */
export function roleWarnings({ audience }: Role): string[] {
  if (audience !== '') return [];
  return ['audience is not set: a token that an account got for any other service logs in here too. Set audience, and issue tokens for it'];
}

function patterns(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function aliasSource(text: string): Role['alias_name_source'] {
  const source = ALIAS_SOURCES.find((one) => one === text);
  if (!source) throw new BadRequest(`invalid alias_name_source, must be one of: ${ALIAS_SOURCES.join(', ')}`);
  return source;
}
