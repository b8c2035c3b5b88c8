import { f } from '@strongroom/engine-sdk';
import { type Static, Type } from 'typebox';
import { credentialsFault } from './credentials.ts';
import { replicationFaults } from './replication.ts';

/** What `sys/sync/destinations/gcp-sm/<name>` takes, beyond the fields of every destination. */
export const GcpSmConnection = Type.Object({
  credentials: f.secret(
    "JSON key of a service account, as Google's console gives it out. Without it, the application default credentials of the server are used.",
  ),
  project_id: f.string('Project that holds the secrets. Default: the one in the credentials.'),
  service_account_email: f.string('Service account to act as. The credentials need the role of a token creator on it.'),
  kms_key_id: f.string('Cloud KMS key, in the location "global", that secrets with automatic replication are encrypted with.'),
  replica_regions: f.keyValues(
    'Locations that secrets are replicated to, each with the Cloud KMS key of that location or an empty text. Default: automatic replication.',
  ),
  replication_locations: f.commaStrings('Locations that secrets are replicated to; use replica_regions.', { deprecated: true }),
  locational_kms_keys: f.keyValues('Cloud KMS key of each of replication_locations; use replica_regions.', { deprecated: true }),
  global_kms_key: f.string('Cloud KMS key for automatic replication; use kms_key_id.', { deprecated: true }),
});

export type GcpSmConnection = Static<typeof GcpSmConnection>;

/** What the operator decides for all destinations of this kind. */
export interface GcpSmOptions {
  /** In place of secretmanager.googleapis.com and port 443. Read whenever a destination is opened. */
  readonly endpoint?: { readonly host: string; readonly port: number };
  /** In place of https://oauth2.googleapis.com and https://iamcredentials.googleapis.com. */
  readonly authority?: string;
  /** PEM of authorities that may have signed the endpoint's certificate, in place of those that come with the gRPC library. */
  readonly ca?: string;
}

/** What is wrong with a connection, without looking at Google. */
export function checkConnection(connection: GcpSmConnection): readonly string[] {
  const faults = [...replicationFaults(connection)];
  const credentials = credentialsFault(connection.credentials);
  if (credentials !== undefined) faults.push(credentials);
  const { project_id: project, service_account_email: email } = connection;
  if (project && !/^([a-z][a-z0-9-]{4,28}[a-z0-9]|[a-z0-9.-]+:[a-z][a-z0-9-]+|\d+)$/.test(project)) {
    faults.push('project_id must be the id or the number of a project, such as "my-project-123"');
  }
  if (email && !/^[^@\s/]+@[^@\s/]+$/.test(email)) faults.push('service_account_email must be the email address of a service account');
  return faults;
}
