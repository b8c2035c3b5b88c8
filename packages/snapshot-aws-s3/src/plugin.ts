import { API_VERSION, type SnapshotStoragePlugin } from '@strongroom/engine-sdk';
import { openBucket } from './bucket.ts';
import { checkSettings, FIELDS } from './settings.ts';

/** Scheduled snapshots in S3: `storage_type` `aws-s3`. */
export const awsS3Snapshots: SnapshotStoragePlugin = {
  kind: 'snapshot-storage',
  name: 'aws-s3',
  apiVersion: API_VERSION,
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href, '@aws-sdk/client-s3'],
  fields: FIELDS,
  address: ['aws_s3_endpoint', 'aws_s3_disable_tls', 'aws_s3_region', 'aws_s3_bucket'],
  check: checkSettings,
  open: openBucket,
};
