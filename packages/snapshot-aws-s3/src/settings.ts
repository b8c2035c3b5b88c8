import { BadRequest, f, type SnapshotPlace } from '@strongroom/engine-sdk';

/** The fields of Vault Enterprise. */
export const FIELDS = {
  aws_s3_bucket: f.string('Of `aws-s3`: the bucket.'),
  aws_s3_region: f.string('Of `aws-s3`: the region of the bucket.'),
  aws_access_key_id: f.string('Of `aws-s3`: the access key. Without it the environment, shared files and roles of the server are asked.'),
  aws_secret_access_key: f.secret('Of `aws-s3`: the secret of the access key.'),
  aws_session_token: f.secret('Of `aws-s3`: the session token of a temporary access key.'),
  aws_s3_endpoint: f.string('Of `aws-s3`: the address of another store that speaks the protocol of S3.'),
  aws_s3_disable_tls: f.bool('Of `aws-s3`: an address without a scheme is called without TLS.'),
  aws_s3_force_path_style: f.bool('Of `aws-s3`: the bucket is in the path, and not in the name of the host.'),
  aws_s3_server_side_encryption: f.bool('Of `aws-s3`: the bucket encrypts with AES-256.'),
  aws_s3_enable_kms: f.bool('Of `aws-s3`: the bucket encrypts with a key of KMS.'),
  aws_s3_kms_key: f.string('Of `aws-s3`: that key; by default the one of the account.'),
};

/** The settings that are set, by the names of their fields. */
export interface BucketSettings {
  readonly aws_s3_bucket: string;
  readonly aws_s3_region: string;
  readonly aws_access_key_id?: string;
  readonly aws_secret_access_key?: string;
  readonly aws_session_token?: string;
  readonly aws_s3_endpoint?: string;
  readonly aws_s3_disable_tls?: boolean;
  readonly aws_s3_force_path_style?: boolean;
  readonly aws_s3_server_side_encryption?: boolean;
  readonly aws_s3_enable_kms?: boolean;
  readonly aws_s3_kms_key?: string;
}

export function bucketSettings({ settings }: SnapshotPlace): BucketSettings {
  return settings as unknown as BucketSettings;
}

/** The address of another store; undefined for AWS itself. */
export function endpointOf({ aws_s3_endpoint: endpoint, aws_s3_disable_tls: plain }: BucketSettings): string | undefined {
  if (endpoint === undefined || /^[a-z]+:\/\//i.test(endpoint)) return endpoint;
  return `${plain ? 'http' : 'https'}://${endpoint}`;
}

/** @throws BadRequest */
export function checkSettings(place: SnapshotPlace): void {
  const settings = bucketSettings(place);
  const { aws_s3_bucket: bucket, aws_s3_region: region, aws_access_key_id: id, aws_secret_access_key: secret } = settings;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket ?? '')) throw new BadRequest('aws_s3_bucket must be the name of a bucket');
  if (!/^[a-z]{2,}(-[a-z0-9]+)+$/.test(region ?? '')) throw new BadRequest('aws_s3_region must look like eu-central-1');
  if ((id === undefined) !== (secret === undefined))
    throw new BadRequest('aws_access_key_id and aws_secret_access_key belong together: send both, or neither');
  if (settings.aws_session_token !== undefined && id === undefined)
    throw new BadRequest('aws_session_token is for aws_access_key_id, which is missing');
  if (settings.aws_s3_server_side_encryption && settings.aws_s3_enable_kms)
    throw new BadRequest('aws_s3_server_side_encryption and aws_s3_enable_kms exclude each other');
  if (settings.aws_s3_kms_key !== undefined && !settings.aws_s3_enable_kms)
    throw new BadRequest('aws_s3_kms_key is for aws_s3_enable_kms, which is not set');
  if (place.pathPrefix.length > 500 || /[\0-\x1f]|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(place.pathPrefix))
    throw new BadRequest('path_prefix must be at most 500 characters, without empty or dot segments');
  const endpoint = endpointOf(settings);
  if (endpoint === undefined) return;
  const address = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!address || !/^https?:$/.test(address.protocol))
    throw new BadRequest('aws_s3_endpoint must be an address such as https://minio.example:9000');
  if (address.username !== '' || address.password !== '')
    throw new BadRequest('aws_s3_endpoint must hold no user name and no password: it is shown');
}
