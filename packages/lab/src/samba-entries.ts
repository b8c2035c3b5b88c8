/** What an account of Active Directory is like. */
export interface AdUser {
  readonly password: string;
  /** The principal name without its domain. Default: as the account name. */
  readonly principal?: string;
  readonly disabled?: boolean;
  /** The password must be changed at the next login. */
  readonly mustChange?: boolean;
  /** The account itself has expired. */
  readonly expired?: boolean;
  /** Locked just now. */
  readonly locked?: boolean;
  /** More lines of LDIF. */
  readonly more?: readonly string[];
}

const users = 'CN=Users,DC=corp,DC=example';
const normalAccount = 0x200;
const disabledAccount = 0x2;

/** LDIF of a user whose common name, account name and principal name are `name`, for `startSamba` and `apply`. */
export function adUser(name: string, user: AdUser): string {
  const lines = [
    `dn: CN=${name},${users}`,
    'changetype: add',
    'objectClass: user',
    `sAMAccountName: ${name}`,
    `userPrincipalName: ${user.principal ?? name}@corp.example`,
    `userAccountControl: ${user.disabled ? normalAccount | disabledAccount : normalAccount}`,
    `unicodePwd:: ${Buffer.from(`"${user.password}"`, 'utf16le').toString('base64')}`,
    ...(user.mustChange ? ['pwdLastSet: 0'] : []),
    ...(user.expired ? [`accountExpires: ${windowsTime(Date.UTC(2001, 0, 1))}`] : []),
    ...(user.locked ? [`lockoutTime: ${windowsTime(Date.now())}`] : []),
    ...(user.more ?? []),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** LDIF of a group, by the common names of its members: users or groups that came before it. */
export function adGroup(name: string, members: readonly string[]): string {
  const lines = [`dn: CN=${name},${users}`, 'changetype: add', 'objectClass: group', `sAMAccountName: ${name}`];
  return `${[...lines, ...members.map((member) => `member: CN=${member},${users}`)].join('\n')}\n\n`;
}

/** Active Directory's time: units of 100 ns since 1601. */
export function windowsTime(millis: number): string {
  return String((BigInt(millis) + 11_644_473_600_000n) * 10_000n);
}
