import {
  type Credential,
  CredentialUnsupported,
  type PreviewRequest,
  renderStatements,
  type SqlDialect,
  StatementInvalid,
  type StatementValues,
} from '@strongroom/database-sdk';

/** What runs where a role has no statements of its own. Creation has no default: what a user may do is the operator's to say. */
export interface SqlDefaults {
  /** Changes a password. */
  readonly updateUser: readonly string[];
  /** Changes the subject of a certificate. Absent: roles must say how. */
  readonly updateCertificate?: readonly string[];
  /** Absent where the database knows no expiry. */
  readonly renewUser?: readonly string[];
  /** Must succeed for an absent user. Absent where the driver has `deleteUser`. */
  readonly deleteUser?: readonly string[];
  /** Take the login away from a user that cannot be removed. Must succeed for an absent user. */
  readonly disableUser?: readonly string[];
}

/** How users are made by SQL at one kind of database: all that rendering needs, without a connection. */
export interface SqlRules {
  /** Of the plugin, for messages. */
  readonly name: string;
  readonly dialect: SqlDialect;
  readonly defaults: SqlDefaults;
  /** How the database writes a moment; ISO 8601 by default. */
  readonly expiration?: ((at: Date) => string) | undefined;
  /** How statements write the subject of a certificate, given as RFC 4514. Absent: users have passwords only. */
  readonly subject?: ((subject: string) => string) | undefined;
}

export function expirationText({ expiration }: SqlRules, at: Date): string {
  return expiration ? expiration(at) : at.toISOString();
}

/** @throws CredentialUnsupported */
export function credentialValues({ name, subject }: SqlRules, credential: Credential): StatementValues {
  if (credential.type === 'password') return { password: credential.password };
  if (credential.type === 'client_certificate' && subject) return { subject: subject(credential.subject) };
  throw new CredentialUnsupported(name, credential.type);
}

/** @throws StatementInvalid, also if nothing is left */
export function renderCreation({ dialect }: SqlRules, commands: readonly string[], values: StatementValues): string[] {
  const creation = renderStatements(commands, values, dialect);
  if (creation.length === 0) throw new StatementInvalid('empty creation statements');
  return creation;
}

/** What creation sends for sample values, without what begins and ends a transaction. A password stands as it is. */
export function previewCreation(rules: SqlRules, { username, statements, credential, expiresAt }: PreviewRequest): string[] {
  const expiration = expirationText(rules, expiresAt);
  return renderCreation(rules, statements.commands, { name: username, username, expiration, ...credentialValues(rules, credential) });
}
