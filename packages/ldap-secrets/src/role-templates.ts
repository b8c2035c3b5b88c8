import { BadRequest } from '@strongroom/engine-sdk';
import { compileTemplate, utf16le, type Template, type TemplateEnvironment, type TemplateFunction } from '@strongroom/go-template';
import { parseLdif, type LdifRecord } from '@strongroom/ldap-client';
import type { DynamicRoleRecord } from './records.ts';

export const DEFAULT_USERNAME_TEMPLATE = 'v_{{.DisplayName}}_{{.RoleName}}_{{random 10}}_{{unix_time}}';

export type LdifName = 'creation_ldif' | 'deletion_ldif' | 'rollback_ldif';

/** What templates of roles need: time and randomness, and `random` for names, which may mark them. */
export interface RoleEnvironment extends TemplateEnvironment {
  readonly random: TemplateFunction;
}

/** What the username template sees. */
export interface NameData {
  readonly DisplayName: string;
  readonly RoleName: string;
}

/** What the LDIF templates see. Times in RFC 3339 and in seconds since the epoch. */
export interface LdifData extends NameData {
  readonly Username: string;
  readonly Password: string;
  readonly IssueTime: string;
  readonly IssueTimeSeconds: number;
  readonly ExpirationTime: string;
  readonly ExpirationTimeSeconds: number;
}

const LDIF_FIELDS = [
  'Username',
  'Password',
  'DisplayName',
  'RoleName',
  'IssueTime',
  'IssueTimeSeconds',
  'ExpirationTime',
  'ExpirationTimeSeconds',
];

/** The templates of a role, compiled once. Every failure is a BadRequest that names the field. */
export class RoleTemplates {
  readonly #username: Template;
  readonly #ldif: Readonly<Record<LdifName, Template>>;

  constructor(role: DynamicRoleRecord, { random }: Pick<RoleEnvironment, 'random'>) {
    this.#username = compiled('username_template', role.username_template || DEFAULT_USERNAME_TEMPLATE, {
      fields: ['DisplayName', 'RoleName'],
      typeName: 'openldap.UsernameMetadata',
      functions: { random },
    });
    const ldif = (field: LdifName): Template =>
      compiled(field, role[field], { fields: LDIF_FIELDS, typeName: 'openldap.TemplateData', functions: { utf16le } });
    this.#ldif = { creation_ldif: ldif('creation_ldif'), deletion_ldif: ldif('deletion_ldif'), rollback_ldif: ldif('rollback_ldif') };
  }

  username(data: NameData, environment: TemplateEnvironment): string {
    const name = rendered('username_template', this.#username, data, environment);
    if (name === '' || /[\0\r\n]/.test(name)) {
      throw new BadRequest('invalid username_template: it gives an empty name, or one with line breaks');
    }
    return name;
  }

  /** Whether two names for the same caller, role and moment differ. */
  hasUniqueNames(environment: TemplateEnvironment): boolean {
    const moment = environment.now();
    const still = { ...environment, now: () => moment };
    const data = { DisplayName: 'token', RoleName: 'role' };
    return this.username(data, still) !== this.username(data, still);
  }

  ldif(field: LdifName, data: LdifData, environment: TemplateEnvironment): string {
    return rendered(field, this.#ldif[field], data, environment);
  }
}

/** @throws BadRequest naming the field and the line. */
export function recordsOf(field: LdifName, text: string): LdifRecord[] {
  try {
    return parseLdif(text);
  } catch (error) {
    throw new BadRequest(`invalid ${field}: ${(error as Error).message}`);
  }
}

/**
 * A part of a generated name: what would end a value in LDIF, in a distinguished name or in a filter, or what Active Directory refuses in a
 * name, becomes a dash. A caller may have chosen it.
 */
export function safePart(text: string): string {
  return text.replace(/[\p{C}\p{Z}"#*()+,/:;<=>?[\\\]|]/gu, '-');
}

function compiled(field: string, source: string, options: Parameters<typeof compileTemplate>[1]): Template {
  try {
    return compileTemplate(source, options);
  } catch (error) {
    throw new BadRequest(`invalid ${field}: ${(error as Error).message}`);
  }
}

function rendered(field: string, template: Template, data: NameData, environment: TemplateEnvironment): string {
  try {
    return template.render({ ...data }, environment);
  } catch (error) {
    throw new BadRequest(`invalid ${field}: ${(error as Error).message}`);
  }
}
