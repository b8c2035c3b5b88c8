import {
  type Credential,
  CredentialUnsupported,
  mssqlDialect,
  type PreviewRequest,
  renderStatements,
  StatementInvalid,
  type Statements,
  type StatementValues,
} from '@strongroom/database-sdk';
import { expirationText } from './default-statements.ts';

/** What creation sends for sample values, but for what begins and ends the transaction. */
export function previewCreation({ username, statements, credential, expiresAt }: PreviewRequest): string[] {
  return renderCreation(statements, creationValues(username, expiresAt, credential));
}

/** Throws StatementInvalid, also if nothing is left. */
export function renderCreation({ commands }: Statements, values: StatementValues): string[] {
  const creation = renderStatements(commands, values, mssqlDialect);
  if (creation.length === 0) throw new StatementInvalid('empty creation statements');
  return creation;
}

export function creationValues(username: string, expiresAt: Date, credential: Credential): StatementValues {
  return { name: username, username, expiration: expirationText(expiresAt), password: passwordOf(credential) };
}

/** Throws CredentialUnsupported. */
export function passwordOf(credential: Credential): string {
  if (credential.type !== 'password') throw new CredentialUnsupported('mssql-database-plugin', credential.type);
  return credential.password;
}
