import type { Modification } from './connection.ts';

/** What differs between kinds of directories. */
export interface DirectorySchema {
  /** The attribute that names an account where `userattr` is not set. */
  readonly userAttribute: string;
  /** Whether a refused login says something about the password. Users of RACF may be barred from the directory and use it elsewhere. */
  readonly provesByBind: boolean;
  /** The change that gives an account a new password, with the rights of an administrator. */
  passwordChange(password: string): readonly Modification[];
}

export type SchemaName = 'openldap' | 'ad' | 'racf';

export const schemas: Readonly<Record<SchemaName, DirectorySchema>> = {
  openldap: {
    userAttribute: 'cn',
    provesByBind: true,
    passwordChange: (password) => [replace('userPassword', password)],
  },
  ad: {
    userAttribute: 'userPrincipalName',
    provesByBind: true,
    // Active Directory takes the password in quotes and in UTF-16LE (MS-ADTS 3.1.1.3.1.5).
    passwordChange: (password) => [replace('unicodePwd', Buffer.from(`"${password}"`, 'utf16le'))],
  },
  racf: {
    userAttribute: 'racfid',
    provesByBind: false,
    passwordChange: (password) => [replace('racfPassword', password), replace('racfAttributes', 'noexpired')],
  },
};

/** RACF with password phrases in place of passwords. */
export const racfPhrases: DirectorySchema = {
  ...schemas.racf,
  passwordChange: (phrase) => [replace('racfPassPhrase', phrase), replace('racfAttributes', 'noexpired')],
};

export function isSchemaName(text: string): text is SchemaName {
  return Object.hasOwn(schemas, text);
}

function replace(attribute: string, value: string | Buffer): Modification {
  return { operation: 'replace', attribute, values: [value] };
}
