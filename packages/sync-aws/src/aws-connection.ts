import { f } from '@strongroom/engine-sdk';
import type { Static, TObject } from 'typebox';

/** Fields of every destination at AWS: who asks, and where. `endpoint` is the type's own. */
export const awsFields = {
  access_key_id: f.secret(
    "Access key id. Without it credentials come from AWS's own chain: environment, profile, container or instance role.",
  ),
  secret_access_key: f.secret('Secret access key; together with access_key_id.'),
  region: f.string("Region of the secrets. Without it as in AWS's own chain: AWS_REGION or the profile."),
  role_arn: f.string('A role to assume before anything is done.'),
  identity_token_audience: f.string(
    'Audience of an identity token of this destination, with which role_arn is assumed in place of an access key.',
  ),
  identity_token_key: f.string('Key of identity/oidc/key that signs the identity token; default unless given.'),
  identity_token_ttl: f.duration('How long an identity token is good; an hour unless given.'),
  external_id: f.string('External id that the trust policy of the role asks for.'),
  sts_endpoint: f.string('Address of STS, where role_arn is assumed.'),
};
type AwsFields = typeof awsFields;
/** As they are stored, with the address of the service. */
export type AwsConnection = Static<TObject<AwsFields>> & { readonly endpoint?: string | undefined };

/** What can be seen to be wrong with them without asking AWS. `service`: as it stands in addresses, such as `secretsmanager`. */
export function awsComplaints(connection: AwsConnection, service: string): string[] {
  const { access_key_id, secret_access_key, role_arn, external_id, region, identity_token_audience } = connection;
  const complaints: string[] = [];
  if ((access_key_id === undefined) !== (secret_access_key === undefined)) {
    complaints.push('access_key_id and secret_access_key belong together: give both, or neither');
  }
  if (role_arn !== undefined && !/^arn:aws[\w-]*:iam::\d{12}:role\/.+$/.test(role_arn)) {
    complaints.push('role_arn must look like arn:aws:iam::123456789012:role/name');
  }
  if (identity_token_audience === undefined) {
    for (const field of ['identity_token_key', 'identity_token_ttl'] as const)
      if (connection[field] !== undefined) complaints.push(`${field} is for identity_token_audience, which is missing`);
  } else {
    if (role_arn === undefined) complaints.push('role_arn must be set when identity_token_audience is set');
    if (access_key_id !== undefined) complaints.push('only one of access_key_id and identity_token_audience can be set');
    if (external_id !== undefined)
      complaints.push('external_id is for a role that is assumed with an access key, not with identity_token_audience');
    if (connection.identity_token_ttl !== undefined && connection.identity_token_ttl < 1)
      complaints.push('identity_token_ttl must be at least 1 second');
    if (connection.sts_endpoint !== undefined && isWebAddress(connection.sts_endpoint) && !isSecret(connection.sts_endpoint))
      complaints.push('sts_endpoint must begin with https:// where it receives identity tokens');
  }
  if (external_id !== undefined && role_arn === undefined) complaints.push('external_id is for role_arn, which is missing');
  if (region !== undefined && !/^[a-z]{2,}(-[a-z0-9]+)+$/.test(region)) complaints.push('region must look like eu-central-1');
  for (const field of ['endpoint', 'sts_endpoint'] as const) {
    const address = connection[field];
    if (address === undefined) continue;
    if (!isWebAddress(address)) {
      complaints.push(`${field} must be an address such as https://vpce-1234.${service}.eu-central-1.vpce.amazonaws.com`);
    } else if (holdsCredentials(address)) {
      complaints.push(`${field} must hold no user name and no password: it is shown`);
    }
  }
  return complaints;
}

function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

function isSecret(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

function holdsCredentials(address: string): boolean {
  const { username, password } = new URL(address);
  return username !== '' || password !== '';
}
