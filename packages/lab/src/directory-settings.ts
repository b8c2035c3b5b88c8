import type { Slapd } from './slapd-server.ts';

/** Where the people and the groups of the tests are. */
export const PEOPLE_DN = 'ou=people,dc=example,dc=org';
export const GROUPS_DN = 'ou=groups,dc=example,dc=org';

/** The configuration of the LDAP auth method that searches with a service account, as most installations do. */
export function serviceAccountConfig({ url, adminDn, adminPassword }: Pick<Slapd, 'url' | 'adminDn' | 'adminPassword'>) {
  return {
    url,
    binddn: adminDn,
    bindpass: adminPassword,
    userdn: PEOPLE_DN,
    userattr: 'uid',
    groupdn: GROUPS_DN,
    groupfilter: '(member={{.UserDN}})',
  };
}

/** Templates of a dynamic role that creates an account below `parent`, adds it to `group`, and undoes both. */
export function accountTemplates(parent: string, group: string): { readonly creation_ldif: string; readonly deletion_ldif: string } {
  const dn = `uid={{.Username}},${parent}`;
  return {
    creation_ldif: `dn: ${dn}
objectClass: account
objectClass: simpleSecurityObject
uid: {{.Username}}
userPassword: {{.Password}}

dn: ${group}
changetype: modify
add: member
member: ${dn}
`,
    deletion_ldif: `dn: ${group}
changetype: modify
delete: member
member: ${dn}

dn: ${dn}
changetype: delete
`,
  };
}

/** LDIF of an entry that refers to other places, all of them equally good (RFC 3296). `rdn`: such as `ou=away`. */
export function referralEntry(rdn: string, parent: string, refs: readonly string[]): string {
  const [attribute, value] = rdn.split('=') as [string, string];
  const lines = refs.map((ref) => `ref: ${ref}\n`).join('');
  return `dn: ${rdn},${parent}\nobjectClass: referral\nobjectClass: extensibleObject\n${attribute}: ${value}\n${lines}\n`;
}

/** LDIF of an organizational unit, and of people in it: `uid`, with a password. */
export function peopleBelow(ou: string, parent: string, people: Readonly<Record<string, string>>): string {
  const entries = Object.entries(people).map(
    ([uid, password]) =>
      `dn: uid=${uid},ou=${ou},${parent}\nobjectClass: inetOrgPerson\nuid: ${uid}\ncn: ${uid}\nsn: ${uid}\nuserPassword: ${password}\n`,
  );
  return [`dn: ou=${ou},${parent}\nobjectClass: organizationalUnit\nou: ${ou}\n`, ...entries].join('\n') + '\n';
}
