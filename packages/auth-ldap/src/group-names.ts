import { commonNameOf, isDn, type LdapEntry } from '@strongroom/ldap-client';

/** The names of groups that entries stand for: values of the attribute, or their common names where they are names of entries. */
export function groupNames(entries: readonly LdapEntry[], attribute: string, options: { readonly exactCase: boolean }): string[] {
  const names = new Set<string>();
  const add = (value: string): void => {
    const name = value.includes('=') ? (commonNameOf(value, options) ?? value) : value;
    if (name !== '') names.add(name);
  };
  for (const entry of entries) {
    const values = entry.values(attribute);
    if (values.length > 0) values.forEach(add);
    else if (isDn(entry.dn)) add(entry.dn);
  }
  return [...names];
}
