export { pkcs11Seal } from './plugin.ts';
