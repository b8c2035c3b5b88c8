import { describe, expect, test } from '@jest/globals';
import { LdifSyntaxError, parseLdif } from '../src/index.ts';

describe('parsing LDIF', () => {
  test('several records of every kind are read, whatever the line ends', () => {
    const text = `version: 1
# a comment
#  that goes on
 and on
dn: cn=a,dc=x
objectClass: top
objectClass: person
CN: a

dn:: Y249TcO8LGRjPXg=
changetype: modify
replace: userPassword
userPassword:: cHc=
-
delete: mail
-
add: description
description: one
description: two


dn: cn=a,dc=x
changetype: modrdn
newrdn: cn=b
deleteoldrdn: 0
newsuperior: ou=y,dc=x

dn: cn=b,ou=y,dc=x
changetype: delete`;
    const records = [
      { line: 5, dn: 'cn=a,dc=x', type: 'add', attributes: [values('objectClass', 'top', 'person'), values('CN', 'a')] },
      {
        line: 10,
        dn: 'cn=Mü,dc=x',
        type: 'modify',
        changes: [
          { operation: 'replace', ...values('userPassword', 'pw') },
          { operation: 'delete', ...values('mail') },
          { operation: 'add', ...values('description', 'one', 'two') },
        ],
      },
      { line: 22, dn: 'cn=a,dc=x', type: 'modrdn', newRdn: 'cn=b', deleteOldRdn: false, newSuperior: 'ou=y,dc=x' },
      { line: 28, dn: 'cn=b,ou=y,dc=x', type: 'delete' },
    ];
    expect(parseLdif(text)).toEqual(records);
    expect(parseLdif(text.replaceAll('\n', '\r\n'))).toEqual(records);
    expect(parseLdif(`\uFEFF${text}\n`)).toEqual(records);
  });

  test('folded lines are joined, in plain and base64 values and in names', () => {
    expect(parseLdif('dn: cn=a,\n dc=x\ndescription: one\n  two\nuserPassword:: c\n GFz\n cw==\n')).toEqual([
      { line: 1, dn: 'cn=a,dc=x', type: 'add', attributes: [values('description', 'one two'), values('userPassword', 'pass')] },
    ]);
  });

  test('an empty value, and one that starts with a space in base64, are kept', () => {
    expect(parseLdif('dn: cn=a\nx:\ny:: IGE=\nz: a:b')).toMatchObject([
      { attributes: [values('x', ''), values('y', ' a'), values('z', 'a:b')] },
    ]);
  });

  test('bytes that are not text come through', () => {
    expect(parseLdif('dn: cn=a\nunicodePwd:: IgBhACIA')).toMatchObject([{ attributes: [{ values: [Buffer.from('"a"', 'utf16le')] }] }]);
  });

  test('text without records gives none', () => {
    expect(parseLdif('')).toEqual([]);
    expect(parseLdif('\n# only a comment\n\n')).toEqual([]);
  });

  test.each([
    ['cn: a', 1, 'a record starts with "dn:"'],
    ['\n\ndn: nonsense', 3, 'the value of dn is not a distinguished name'],
    ['dn: cn=a', 1, 'an add record has no attributes'],
    ['dn: cn=a\nnonsense', 2, 'no ":" after the attribute name'],
    ['dn: cn=a\nb d: x', 2, 'not an attribute name before ":"'],
    ['dn: cn=a\nx:: !!!', 2, 'the value of x is not base64'],
    ['dn: cn=a\nx:< file:///etc/passwd', 2, 'values from URLs are not supported'],
    ['dn: cn=a\ncontrol: 1.2.3', 2, 'controls are not supported'],
    ['dn: cn=a\nchangetype: explode', 2, 'changetype is not one of add, modify, modrdn, moddn, delete'],
    ['dn: cn=a\nchangetype: delete\ncn: a', 3, 'a delete record has no further lines'],
    ['dn: cn=a\nchangetype: modify', 2, 'a modify record has no changes'],
    ['dn: cn=a\nchangetype: modify\nadd: mail\n-', 3, '"add: mail" has no values'],
    ['dn: cn=a\nchangetype: modify\nincrement: n\nn: 1', 3, 'a change starts with "add:", "delete:" or "replace:"'],
    ['dn: cn=a\nchangetype: modify\nreplace: mail\nmial: x', 4, 'expected "mail:" or "-"'],
    ['dn: cn=a\nchangetype: modify\n-', 3, '"-" ends nothing'],
    ['dn: cn=a\nchangetype: modrdn\ndeleteoldrdn: 1', 3, 'expected "newrdn:"'],
    ['dn: cn=a\nchangetype: modrdn\nnewrdn: cn=b,dc=x\ndeleteoldrdn: 1', 3, 'newrdn is not one relative name'],
    ['dn: cn=a\nchangetype: modrdn\nnewrdn: cn=b', 3, 'expected "deleteoldrdn: 0" or "deleteoldrdn: 1"'],
    ['dn: cn=a\ncn: a\ndn: cn=b\ncn: b', 3, '"dn:" inside a record; is an empty line missing before it?'],
    [' dn: cn=a', 1, 'a folded line continues nothing'],
    ['version: 2\ndn: cn=a', 1, 'only version 1 is known'],
  ])('%j is refused with its line', (text, line, reason) => {
    let error: unknown;
    try {
      parseLdif(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(LdifSyntaxError);
    expect(error).toMatchObject({ line, message: `LDIF line ${line}: ${reason}` });
  });
});

function values(attribute: string, ...texts: string[]): { attribute: string; values: Buffer[] } {
  return { attribute, values: texts.map((text) => Buffer.from(text)) };
}
