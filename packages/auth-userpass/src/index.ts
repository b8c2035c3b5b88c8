export { userpassAuth } from './userpass-auth.ts';
