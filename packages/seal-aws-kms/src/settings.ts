import { setting, type SettingValues } from '@strongroom/seal-sdk';

/** Names as Vault's and OpenBao's seal of this type has them. */
export const SETTINGS = {
  kms_key_id: setting.text('Id or ARN of the key, or `alias/…`.', {
    required: true,
    env: ['BAO_AWSKMS_SEAL_KEY_ID', 'VAULT_AWSKMS_SEAL_KEY_ID'],
  }),
  region: setting.text('Region of the key.', { default: 'us-east-1', env: ['AWS_REGION', 'AWS_DEFAULT_REGION'] }),
  access_key: setting.text("Access key id. Without one, the SDK's chain is asked: environment, files, role of the machine.", {
    env: ['AWS_ACCESS_KEY_ID'],
  }),
  secret_key: setting.secret('Secret access key.', { env: ['AWS_SECRET_ACCESS_KEY'] }),
  session_token: setting.secret('Session token of temporary credentials.', { env: ['AWS_SESSION_TOKEN'] }),
  endpoint: setting.text("URL of the service. The region's by default; another for VPC endpoints.", { env: ['AWS_KMS_ENDPOINT'] }),
};

export type AwsKmsSettings = SettingValues<typeof SETTINGS>;

/** What is wrong with settings, without asking AWS. */
export function settingFaults({ kms_key_id: key, access_key: id, secret_key: secret, endpoint }: AwsKmsSettings): string[] {
  const faults: string[] = [];
  if (!/^(alias\/[\w/-]+|[\w-]{1,256}|arn:[\w-]+:kms:[\w-]+:\d{12}:(key|alias)\/[\w/-]+)$/.test(key))
    faults.push('kms_key_id must be the id or ARN of a key, or an alias such as "alias/strongroom"');
  if ((id === undefined) !== (secret === undefined)) faults.push('access_key and secret_key come together');
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    faults.push('endpoint must be a URL such as "https://kms.eu-west-1.amazonaws.com"');
  return faults;
}
