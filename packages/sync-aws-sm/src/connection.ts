import { f } from '@strongroom/engine-sdk';
import { awsComplaints, awsFields } from '@strongroom/sync-aws';
import { Type, type Static } from 'typebox';

const { sts_endpoint, ...whoAndWhere } = awsFields;

export const AwsSmConnection = Type.Object({
  ...whoAndWhere,
  kms_key_id: f.string("Key that encrypts the secrets: an id, ARN or alias. Without it the account's aws/secretsmanager."),
  replica_regions: f.keyValues('Regions that each secret is copied to, with the key that encrypts it there or "".'),
  recovery_window_in_days: f.int('How long a removed secret can be brought back: 7 to 30 days; 0 removes it at once.', { default: 7 }),
  endpoint: f.string('Address of Secrets Manager, for VPC endpoints and emulators.'),
  sts_endpoint,
});
export type AwsSmConnection = Static<typeof AwsSmConnection>;

/** What can be seen to be wrong without asking AWS. */
export function checkConnection(connection: AwsSmConnection): string[] {
  const { region, replica_regions = {}, recovery_window_in_days } = connection;
  const complaints = awsComplaints(connection, 'secretsmanager');
  if (region !== undefined && Object.keys(replica_regions).includes(region)) {
    complaints.push('replica_regions must not hold the region of the secrets themselves');
  }
  if (recovery_window_in_days !== 0 && (recovery_window_in_days < 7 || recovery_window_in_days > 30)) {
    complaints.push('recovery_window_in_days must be 0, or from 7 to 30');
  }
  return complaints;
}
