import {
  type Credential,
  CredentialUnsupported,
  postgresqlDialect,
  type PreviewRequest,
  renderStatements,
  StatementInvalid,
  type Statements,
  type StatementValues,
} from '@strongroom/database-sdk';
import { expirationText } from './default-statements.ts';

/** What creation sends for sample values. Where the connection sends SCRAM verifiers, those stand in place of the password. */
export function previewCreation({ username, statements, credential, expiresAt }: PreviewRequest): string[] {
  return renderCreation(statements, creationValues(username, expiresAt, credentialValues(credential)));
}

/** Throws StatementInvalid, also if nothing is left. */
export function renderCreation({ commands }: Statements, values: StatementValues): string[] {
  const creation = renderStatements(commands, values, postgresqlDialect);
  if (creation.length === 0) throw new StatementInvalid('empty creation statements');
  return creation;
}

export function creationValues(username: string, expiresAt: Date, credential: StatementValues): StatementValues {
  return { name: username, username, expiration: expirationText(expiresAt), ...credential };
}

/** The password as it is. Throws CredentialUnsupported. */
export function credentialValues(credential: Credential): StatementValues {
  if (credential.type === 'rsa_private_key') throw new CredentialUnsupported('postgresql-database-plugin', credential.type);
  return credential.type === 'password' ? { password: credential.password } : { subject: credential.subject };
}
