export { awsSsmDestination } from './plugin.ts';
