/** Something that an engine created or manages in an outside system. Contains no secret. */
export interface OutsideThing {
  /** What it is, in a word or two: `database user`, `access key`, `directory account`. */
  readonly kind: string;
  /** Its name in the outside system: a user name, a DN, a key id. */
  readonly name: string;
  /** Where it is: a connection's name, a URL without credentials, an account id. */
  readonly system?: string;
  /** What an operator should know before dropping it. */
  readonly detail?: string;
}
