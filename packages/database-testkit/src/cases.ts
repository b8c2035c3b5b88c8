/** The names of all cases, in the order in which a reader would ask. */
export const CONTRACT_CASES = [
  'name and version are well formed',
  'defaults satisfy the schema',
  'secret fields are marked',
  'open does not dial',
  'verify accepts good credentials',
  'verify refuses bad credentials',
  'a created user logs in',
  'its name obeys the template and the length limit',
  'placeholders are substituted',
  'a quote, backslash or semicolon in a display name cannot break out of a statement',
  'a quote, backslash or semicolon in a password works or is refused',
  'a failing statement leaves no user',
  'undo runs after a half-made user',
  '20 concurrent creates never collide',
  'a credential that is not supported is refused',
  'updateUser lets the new credential in and the old one not',
  'native expiry refuses an expired user, and renewUser extends',
  'renewUser may be absent, and does no harm where it is not',
  'deleteUser refuses later logins',
  'deleting twice succeeds',
  'an aborted signal rejects promptly',
  'after the server drops, the next call reconnects or fails with ConnectionLost',
  'no error text contains the root or user password',
  'close twice is fine, later calls reject',
] as const;

export type ContractCase = (typeof CONTRACT_CASES)[number];
