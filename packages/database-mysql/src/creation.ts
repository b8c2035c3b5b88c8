import {
  type Credential,
  CredentialUnsupported,
  mysqlDialect,
  type PreviewRequest,
  renderStatements,
  StatementInvalid,
  type Statements,
  type StatementValues,
} from '@strongroom/database-sdk';
import { expirationText } from './default-statements.ts';
import { subjectLine } from './subject.ts';

/** What creation sends for sample values. */
export function previewCreation({ username, statements, credential, expiresAt }: PreviewRequest): string[] {
  return renderCreation(statements, creationValues(username, expiresAt, credential));
}

/** Throws StatementInvalid, also if nothing is left. */
export function renderCreation({ commands }: Statements, values: StatementValues): string[] {
  const creation = renderStatements(commands, values, mysqlDialect);
  if (creation.length === 0) throw new StatementInvalid('empty creation statements');
  return creation;
}

export function creationValues(username: string, expiresAt: Date, credential: Credential): StatementValues {
  return { name: username, username, expiration: expirationText(expiresAt), ...credentialValues(credential) };
}

/** Throws CredentialUnsupported. */
export function credentialValues(credential: Credential): StatementValues {
  if (credential.type === 'rsa_private_key') throw new CredentialUnsupported('mysql-database-plugin', credential.type);
  return credential.type === 'password' ? { password: credential.password } : { subject: subjectLine(credential.subject) };
}
