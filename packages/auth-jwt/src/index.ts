export { jwtAuth, oidcAuth } from './jwt-auth.ts';
