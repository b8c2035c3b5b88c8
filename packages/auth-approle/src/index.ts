export { approleAuth } from './approle-auth.ts';
