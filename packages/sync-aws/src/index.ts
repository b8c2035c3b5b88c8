export { awsComplaints, awsFields, type AwsConnection } from './aws-connection.ts';
export { isRefusal, translateAwsError } from './aws-error.ts';
export { awsClientSettings } from './client-settings.ts';
