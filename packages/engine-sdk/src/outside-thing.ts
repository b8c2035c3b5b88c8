/** Something that an engine has made or manages in an outside system. Holds no secret. */
export interface OutsideThing {
  /** What it is, in a word or two: `database user`, `access key`, `directory account`. */
  readonly kind: string;
  /** How the outside system calls it: a user name, a DN, a key id. */
  readonly name: string;
  /** Where it is: a connection's name, a URL without credentials, an account id. */
  readonly system?: string;
  /** What an operator should know before letting go of it. */
  readonly detail?: string;
}
