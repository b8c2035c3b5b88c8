export { ldapSecrets } from './ldap-secrets.ts';
