export { awsKmsSeal } from './plugin.ts';
