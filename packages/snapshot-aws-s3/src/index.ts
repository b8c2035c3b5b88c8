export { awsS3Snapshots } from './plugin.ts';
