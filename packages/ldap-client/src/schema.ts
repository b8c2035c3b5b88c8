import type { Modification } from './connection.ts';

/** What differs between kinds of directories. */
export interface DirectorySchema {
  /** The attribute that names an account where `userattr` is not set. */
  readonly userAttribute: string;
  /** Whether a refused login says something about the password. Users of RACF may be barred from the directory and use it elsewhere. */
  readonly provesByBind: boolean;
  /** The change that gives an account a new password, with the rights of an administrator. */
  passwordChange(password: string): readonly Modification[];
  /**
   * The changes by which an account that is logged in gives itself a new password, in the order to try them: the next one is for a directory that does not
   * find the current password in the entry, since it keeps a digest and does not compare.
   */
  ownPasswordChanges(current: string, password: string): readonly (readonly Modification[])[];
}

export type SchemaName = 'openldap' | 'ad' | 'racf';

export const schemas: Readonly<Record<SchemaName, DirectorySchema>> = {
  openldap: {
    userAttribute: 'cn',
    provesByBind: true,
    passwordChange: (password) => [replace('userPassword', password)],
    ownPasswordChanges: (current, password) => [exchange('userPassword', current, password), [replace('userPassword', password)]],
  },
  ad: {
    userAttribute: 'userPrincipalName',
    provesByBind: true,
    passwordChange: (password) => [replace('unicodePwd', unicodePassword(password))],
    // A replacement would be a reset, which an account may not do to itself.
    ownPasswordChanges: (current, password) => [exchange('unicodePwd', unicodePassword(current), unicodePassword(password))],
  },
  racf: {
    userAttribute: 'racfid',
    provesByBind: false,
    passwordChange: (password) => [replace('racfPassword', password), replace('racfAttributes', 'noexpired')],
    ownPasswordChanges: (current, password) => [exchange('racfPassword', current, password)],
  },
};

/** RACF with password phrases in place of passwords. */
export const racfPhrases: DirectorySchema = {
  ...schemas.racf,
  passwordChange: (phrase) => [replace('racfPassPhrase', phrase), replace('racfAttributes', 'noexpired')],
  ownPasswordChanges: (current, phrase) => [exchange('racfPassPhrase', current, phrase)],
};

export function isSchemaName(text: string): text is SchemaName {
  return Object.hasOwn(schemas, text);
}

function replace(attribute: string, value: string | Buffer): Modification {
  return { operation: 'replace', attribute, values: [value] };
}

/** The value that is replaced is named: whoever does not know it cannot make the change. */
function exchange(attribute: string, from: string | Buffer, to: string | Buffer): readonly Modification[] {
  return [
    { operation: 'delete', attribute, values: [from] },
    { operation: 'add', attribute, values: [to] },
  ];
}

/** Active Directory takes a password in quotes and in UTF-16LE (MS-ADTS 3.1.1.3.1.5). */
function unicodePassword(password: string): Buffer {
  return Buffer.from(`"${password}"`, 'utf16le');
}
