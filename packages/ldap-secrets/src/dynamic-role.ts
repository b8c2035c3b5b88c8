import { BadRequest, f } from '@strongroom/engine-sdk';
import { normalizeDn, type LdifRecord } from '@strongroom/ldap-client';
import type { DynamicRoleRecord } from './records.ts';
import { recordsOf, RoleTemplates, safePart, type LdifData, type RoleEnvironment } from './role-templates.ts';

/** The parameters of a dynamic role, with the names that Vault and OpenBao use. */
export const dynamicRoleFields = {
  creation_ldif: f.string(
    'Template of the LDIF that makes the account; plain or base64. Records are carried out in order, up to the first error.',
  ),
  deletion_ldif: f.string(
    'Template of the LDIF that takes the account away; plain or base64. An error does not stop the records after it.',
  ),
  rollback_ldif: f.string('Template of the LDIF that undoes a creation that failed half-way; plain or base64. Recommended.'),
  username_template: f.string("Template of the account's name: {{.DisplayName}}, {{.RoleName}}."),
  default_ttl: f.duration("Length of a lease; 0 for the configuration's, or else the mount's own."),
  max_ttl: f.duration("Length that renewals can reach; 0 for the configuration's, or else the mount's own."),
} as const;

export type SentDynamicRole = { readonly [K in keyof DynamicRoleRecord]?: DynamicRoleRecord[K] | undefined };

/** The role after a write: only what was sent changes, and an empty text deletes. @throws BadRequest */
export function changedRole(before: DynamicRoleRecord | undefined, sent: SentDynamicRole, environment: RoleEnvironment): DynamicRoleRecord {
  const role: DynamicRoleRecord = {
    creation_ldif: plain('creation_ldif', sent.creation_ldif) ?? before?.creation_ldif ?? '',
    deletion_ldif: plain('deletion_ldif', sent.deletion_ldif) ?? before?.deletion_ldif ?? '',
    rollback_ldif: plain('rollback_ldif', sent.rollback_ldif) ?? before?.rollback_ldif ?? '',
    username_template: sent.username_template ?? before?.username_template ?? '',
    default_ttl: sent.default_ttl ?? before?.default_ttl ?? 0,
    max_ttl: sent.max_ttl ?? before?.max_ttl ?? 0,
  };
  if (role.creation_ldif.trim() === '') throw new BadRequest('missing creation_ldif');
  if (role.deletion_ldif.trim() === '') throw new BadRequest('missing deletion_ldif');
  if (role.max_ttl > 0 && role.default_ttl > role.max_ttl) {
    throw new BadRequest(`default_ttl (${role.default_ttl} s) is longer than max_ttl (${role.max_ttl} s)`);
  }
  renderSample(role, {}, environment);
  return role;
}

/**
 * What an operator should know about a role that is stored: that its accounts do not get the password that is issued, and what its creation adds
 * and its deletion does not name.
 */
export function roleGaps(role: DynamicRoleRecord, roleName: string, environment: RoleEnvironment): string[] {
  const sample = renderSample(role, { roleName }, environment);
  return [...(usesPassword(role, roleName, environment) ? [] : [NO_PASSWORD]), ...deletionGaps(sample)];
}

const NO_PASSWORD = 'creation_ldif does not use {{.Password}}: the account does not get the password that is issued';

/** Whether what is created differs with the password, which templates may encode. */
function usesPassword({ creation_ldif }: DynamicRoleRecord, roleName: string, environment: RoleEnvironment): boolean {
  const role = { creation_ldif, deletion_ldif: '', rollback_ldif: '', username_template: 'sample', default_ttl: 0, max_ttl: 0 };
  const still = environment.now();
  const made = ['sample-password', 'another-password'].map(
    (password) => renderSample(role, { roleName, password }, { ...environment, now: () => still }).creation_ldif,
  );
  return made[0] !== made[1];
}

function deletionGaps(sample: RenderedRole): string[] {
  const deletion = recordsOf('deletion_ldif', sample.deletion_ldif);
  const taken = new Set(deletion.filter(({ type }) => type === 'delete' || type === 'modrdn').map(({ dn }) => normalizeDn(dn)));
  const own = new Set(ownEntries(sample));
  return sample.creation
    .filter(({ type, dn }) => type === 'add' && !taken.has(normalizeDn(dn)))
    .map(({ dn }) =>
      own.has(dn)
        ? `deletion_ldif does not delete ${dn}, which creation_ldif adds; the engine deletes it by its name when the lease ends`
        : `deletion_ldif does not delete ${dn}, which creation_ldif adds; its name does not hold the generated name, so it stays in the directory when the lease ends`,
    );
}

/** What a role makes of a caller. */
export interface RenderedRole {
  readonly username: string;
  readonly creation: readonly LdifRecord[];
  readonly creation_ldif: string;
  readonly deletion_ldif: string;
  readonly rollback_ldif: string;
}

export interface Moment {
  /** In place of the name that username_template gives: for an account that was made before. */
  readonly username?: string;
  readonly displayName: string;
  readonly roleName: string;
  readonly password: string;
  /** Milliseconds. */
  readonly issued: number;
  /** Milliseconds. */
  readonly expires: number;
}

/** @throws BadRequest naming the field that fails. */
export function renderRole(templates: RoleTemplates, moment: Moment, environment: RoleEnvironment): RenderedRole {
  const names = { DisplayName: safePart(moment.displayName), RoleName: safePart(moment.roleName) };
  const username = moment.username ?? templates.username(names, environment);
  const data: LdifData = {
    ...names,
    Username: username,
    Password: moment.password,
    IssueTime: rfc3339(moment.issued),
    IssueTimeSeconds: Math.floor(moment.issued / 1_000),
    ExpirationTime: rfc3339(moment.expires),
    ExpirationTimeSeconds: Math.floor(moment.expires / 1_000),
  };
  const ldif = {
    creation_ldif: templates.ldif('creation_ldif', data, environment),
    deletion_ldif: templates.ldif('deletion_ldif', data, environment),
    rollback_ldif: templates.ldif('rollback_ldif', data, environment),
  };
  const creation = recordsOf('creation_ldif', ldif.creation_ldif);
  if (creation.length === 0) throw new BadRequest('invalid creation_ldif: it holds no record');
  recordsOf('deletion_ldif', ldif.deletion_ldif);
  recordsOf('rollback_ldif', ldif.rollback_ldif);
  return { username, creation, ...ldif };
}

/** What the role would do, with sample values. @throws BadRequest */
export function renderSample(role: DynamicRoleRecord, sample: Partial<Moment>, environment: RoleEnvironment): RenderedRole {
  const issued = environment.now().getTime();
  const defaults = { displayName: 'token', roleName: 'role', password: 'sample-password', issued, expires: issued + 3_600_000 };
  return renderRole(new RoleTemplates(role, environment), { ...defaults, ...sample }, environment);
}

/** The entries that the creation adds and that nobody else can have: their names hold the generated name. */
export function ownEntries({ creation, username }: Pick<RenderedRole, 'creation' | 'username'>): string[] {
  const name = username.toLowerCase();
  const holds = (dn: string): boolean => dn.toLowerCase().includes(name) || normalizeDn(dn).toLowerCase().includes(name);
  return creation.filter(({ type, dn }) => type === 'add' && holds(dn)).map(({ dn }) => dn);
}

/** LDIF has a colon in every record, and base64 has none. */
function plain(field: string, text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '' || !/^[A-Za-z0-9+/=\s]*$/.test(text)) return text;
  const encoded = text.replace(/\s/g, '');
  const bytes = Buffer.from(encoded, 'base64');
  const decoded = bytes.toString('utf8');
  if (encoded.length % 4 !== 0 || bytes.toString('base64') !== encoded || !Buffer.from(decoded).equals(bytes)) {
    throw new BadRequest(`invalid ${field}: neither LDIF nor the base64 of one`);
  }
  return decoded;
}

function rfc3339(millis: number): string {
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z');
}
