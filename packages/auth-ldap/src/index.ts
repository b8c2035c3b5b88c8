export { ldapAuth } from './ldap-auth.ts';
