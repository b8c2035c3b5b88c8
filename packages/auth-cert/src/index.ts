export { certAuth } from './cert-auth.ts';
