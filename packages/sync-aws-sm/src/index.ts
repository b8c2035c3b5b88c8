export { awsSmDestination } from './plugin.ts';
