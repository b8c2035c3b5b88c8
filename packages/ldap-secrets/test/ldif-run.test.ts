import { describe, expect, test } from '@jest/globals';
import { LdapError, parseLdif, resultCode } from '@strongroom/ldap-client';
import { notDeleted } from '../src/ldif-run.ts';

const one = 'uid=one,ou=svc,dc=example,dc=org';
const two = 'uid=two,ou=svc,dc=example,dc=org';
const removalOf = (...dns: string[]): string => dns.map((dn) => `dn: ${dn}\nchangetype: delete\n`).join('\n');

describe('entries that may be there after a deletion', () => {
  const left = (ldif: string, refused: Record<number, number> = {}): readonly string[] => {
    const records = parseLdif(ldif);
    const refusals = Object.entries(refused).map(([index, code]) => ({ record: records[Number(index)]!, error: new LdapError(code, {}) }));
    return notDeleted([one, two], records, refusals);
  };

  test('are those that no record deletes', () => {
    expect(left(removalOf(one, two))).toEqual([]);
    expect(left(removalOf(two))).toEqual([one]);
    expect(left(`dn: ${one}\nchangetype: modify\ndelete: description\n-\n`)).toEqual([one, two]);
  });

  test('are the same however the record writes the name', () => {
    expect(left(removalOf('UID=One, ou=svc,DC=example,dc=org', two))).toEqual([]);
  });

  test('are those whose deletion was refused, unless they were not there', () => {
    expect(left(removalOf(one, two), { 0: resultCode.insufficientAccessRights })).toEqual([one]);
    expect(left(removalOf(one, two), { 1: resultCode.noSuchObject })).toEqual([]);
  });

  test('are all where records add or rename entries', () => {
    const added = `dn: ${one}\nchangetype: add\nobjectClass: account\nuid: one\n`;
    expect(left(`${removalOf(one, two)}\n${added}`)).toEqual([one, two]);
    expect(left(`${removalOf(one, two)}\ndn: ${two}\nchangetype: modrdn\nnewrdn: uid=one\ndeleteoldrdn: 1\n`)).toEqual([one, two]);
  });
});
