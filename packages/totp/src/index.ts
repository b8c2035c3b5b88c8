export { totpEngine } from './totp-engine.ts';
