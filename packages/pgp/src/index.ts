export { readPublicKey, type PublicKey } from './public-key.ts';
