import { f } from '@strongroom/engine-sdk';
import { awsComplaints, awsFields } from '@strongroom/sync-aws';
import { Type, type Static } from 'typebox';

const { sts_endpoint, ...whoAndWhere } = awsFields;

export const AwsSsmConnection = Type.Object({
  ...whoAndWhere,
  kms_key_id: f.string("Key that encrypts the parameters: an id, ARN or alias. Without it the account's aws/ssm."),
  tier: f.string('Standard: values of at most 4 KiB. Advanced: of at most 8 KiB, for a fee. Intelligent-Tiering: AWS chooses.', {
    values: ['Standard', 'Advanced', 'Intelligent-Tiering'],
    default: 'Standard',
  }),
  endpoint: f.string('Address of Systems Manager, for VPC endpoints and emulators.'),
  sts_endpoint,
});
export type AwsSsmConnection = Static<typeof AwsSsmConnection>;

/** What can be seen to be wrong without asking AWS. */
export function checkConnection(connection: AwsSsmConnection): string[] {
  return awsComplaints(connection, 'ssm');
}
