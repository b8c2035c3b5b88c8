export { transitSeal } from './plugin.ts';
