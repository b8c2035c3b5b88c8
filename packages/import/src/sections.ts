import { isNothing, recordOf, type JsonRecord } from './json.ts';
import { passwordHash } from './password-hash.ts';
import type { StoredItems } from './raw-store.ts';
import { only, without, type SecretField } from './setting.ts';

/** A part of an engine that is read and written item by item, or once. */
export interface Section extends StoredItems {
  /** For the report: `role`. */
  readonly kind: string;
  /** Below the mount: where it is, or what to list for the names. */
  readonly at: string;
  readonly single?: boolean;
  /** After the name. */
  readonly suffix?: string;
  shape(read: JsonRecord): JsonRecord;
  readonly secrets?: readonly SecretField[];
  /** Whether the settings are those of a mount that nobody configured, where they are never absent. */
  untouched?(shaped: JsonRecord): boolean;
  /** This server would change the password of the account at once, so it is written only if that is asked for. */
  readonly takesOver?: boolean;
}

const whole = without();
const when =
  (...fields: readonly string[]) =>
  (read: JsonRecord): boolean =>
    fields.some((field) => !isNothing(read[field]));

/** What an account's role shows of its last rotation. */
const account = without('last_vault_rotation', 'last_bao_rotation', 'ttl', 'last_password', 'password', 'next_vault_rotation');

/** Older names of `token_…` fields, which servers show beside them. */
const login = without('policies', 'ttl', 'max_ttl', 'period', 'bound_cidrs', 'num_uses', 'token_num_uses_set', 'local_secret_ids');

/** What engines of each type keep. What no read shows is named as a secret. */
const SECTIONS: Readonly<Record<string, readonly Section[]>> = {
  'secret/database': [
    {
      kind: 'database connection',
      at: 'config',
      shape: connection,
      secrets: [{ field: 'password', needed: (read) => when('username')(recordOf(read['connection_details'])) }],
    },
    { kind: 'database role', at: 'roles', shape: whole },
    { kind: 'static role', at: 'static-roles', shape: account, takesOver: true },
  ],
  'secret/ldap': [
    {
      kind: 'directory settings',
      at: 'config',
      single: true,
      shape: without('last_bind_password_rotation', 'last_password', 'length', 'formatter'),
      secrets: [{ field: 'bindpass', needed: when('binddn') }],
    },
    { kind: 'directory role', at: 'role', shape: whole },
    { kind: 'static role', at: 'static-role', shape: account, takesOver: true },
    { kind: 'library', at: 'library', shape: whole, takesOver: true },
  ],
  'secret/aws': [
    { kind: 'AWS settings', at: 'config/root', single: true, shape: whole, secrets: [{ field: 'secret_key', needed: when('access_key') }] },
    { kind: 'AWS settings', at: 'config/lease', single: true, shape: whole },
    { kind: 'AWS role', at: 'roles', shape: without('credential_types', 'prohibit_flexible_cred_path', 'invalid_data') },
  ],
  'auth/approle': [
    { kind: 'approle role', at: 'role', shape: login },
    { kind: 'approle role id', at: 'role', suffix: '/role-id', shape: only('role_id') },
  ],
  'auth/ldap': [
    {
      kind: 'login settings',
      at: 'config',
      single: true,
      shape: whole,
      secrets: [{ field: 'bindpass', needed: when('binddn') }],
      untouched: ({ url, userdn, binddn, upndomain }) => url === 'ldap://127.0.0.1' && [userdn, binddn, upndomain].every(isNothing),
    },
    { kind: 'login group', at: 'groups', shape: whole },
    { kind: 'login user', at: 'users', shape: whole },
  ],
  'auth/userpass': [
    {
      kind: 'login user',
      at: 'users',
      shape: login,
      secrets: [{ field: 'password', or: 'password_hash', needed: () => true }],
      rawAt: (name) => `user/${name}`,
      rawSecrets: passwordHash,
    },
  ],
  'auth/jwt': jwt(),
  'auth/oidc': jwt(),
  'auth/kubernetes': [
    {
      kind: 'login settings',
      at: 'config',
      single: true,
      shape: without('token_reviewer_jwt_set'),
      secrets: [{ field: 'token_reviewer_jwt', needed: (read) => read['token_reviewer_jwt_set'] === true }],
    },
    { kind: 'login role', at: 'role', shape: login },
  ],
  'auth/cert': [
    { kind: 'login settings', at: 'config', single: true, shape: whole },
    { kind: 'login role', at: 'certs', shape: login },
  ],
};

function jwt(): readonly Section[] {
  return [
    {
      kind: 'login settings',
      at: 'config',
      single: true,
      shape: whole,
      secrets: [{ field: 'oidc_client_secret', needed: when('oidc_client_id') }],
    },
    { kind: 'login role', at: 'role', shape: login },
  ];
}

/** A connection as it is written: what is inside connection_details stands beside the rest. */
function connection(read: JsonRecord): JsonRecord {
  const { connection_details: details, ...rest } = read;
  const { password: _password, private_key: _key, ...shown } = recordOf(details);
  return { ...rest, ...shown };
}

/** The parts of an engine; undefined for a type that is not carried. */
export function sectionsOf(side: 'secret' | 'auth', type: string): readonly Section[] | undefined {
  const name = `${side}/${type}`;
  return Object.hasOwn(SECTIONS, name) ? SECTIONS[name] : undefined;
}

/** What to read of engines that are only reported: names of lists below the mount. */
const REPORTED: Readonly<Record<string, readonly string[]>> = {
  pki: ['roles', 'issuers'],
  ssh: ['roles'],
  transit: ['keys'],
  totp: ['keys'],
  rabbitmq: ['roles'],
  radius: ['users'],
  gcp: ['roleset', 'static-account'],
  azure: ['roles'],
  kubernetes: ['roles'],
  consul: ['roles'],
  nomad: ['role'],
};

export function reportedLists(type: string): readonly string[] {
  return Object.hasOwn(REPORTED, type) ? REPORTED[type]! : ['roles', 'role'];
}
