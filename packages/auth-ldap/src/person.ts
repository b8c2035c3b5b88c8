import { foldName } from '@strongroom/engine-sdk';
import {
  DnSyntaxError,
  LdapError,
  parseDn,
  resultCode,
  type Connection,
  type LdapEntry,
  type ServiceBinding,
} from '@strongroom/ldap-client';
import { identityOf } from './account-state.ts';
import { directoryFailed } from './failures.ts';
import { withoutDomain, type LoginName } from './login-name.ts';
import { userName } from './mappings.ts';
import type { RememberedNames } from './remembered-names.ts';
import type { Setup } from './setup.ts';
import { searchUsers, type FoundUser } from './user-search.ts';

/** What the directory calls whoever logs in. */
export interface PersonName {
  /** The directory's variant, or the typed one where the directory does not tell. */
  readonly verbatim: string;
  /** The canonical form that mappings, the lockout and the token's metadata have. */
  readonly folded: string;
  /** All variants of `folded` are this person. */
  readonly anyVariant: boolean;
}

/** Whom a search found. */
export interface FoundPerson extends FoundUser {
  /** Which of several names the person is known by. */
  readonly remembered?: string | undefined;
}

/**
 * The name of whom a search found, by the entry: the one value of the attributes that the filter compares with the name, `userattr` first. Of several
 * values it is the remembered one, or else the one that was given.
 */
export function nameOfFound(setup: Setup, found: FoundPerson, name: LoginName): string {
  const wanted = foldName(name.typed);
  for (const values of namesIn(setup, found)) {
    if (values.length === 1 && values[0] !== '') return values[0]!;
    const remembered = found.remembered === undefined ? undefined : values.find((value) => foldName(value) === foldName(found.remembered!));
    const given = remembered ?? values.find((value) => foldName(value) === wanted);
    if (given !== undefined) return given;
  }
  return name.typed;
}

/** The names in the entry, by the attributes that the filter compares with the name; `userattr` first. */
function namesIn({ config, userAttribute }: Setup, { entry, namedBy }: FoundUser): string[][] {
  const own = userAttribute.toLowerCase();
  return [...namedBy]
    .sort((a, b) => Number(b.toLowerCase() === own) - Number(a.toLowerCase() === own))
    .map((attribute) => entry.values(attribute).map((value) => (isPrincipalName(attribute) ? withoutDomain(config, value) : value)));
}

/** Looks up which name counts, for whom the directory gives several. */
export async function recall(setup: Setup, found: FoundUser, names: RememberedNames | undefined): Promise<FoundPerson> {
  const identity = identityOf(found.entry);
  if (names === undefined || identity === undefined || !namesIn(setup, found).some((values) => values.length > 1)) return found;
  return { ...found, remembered: await names.of(identity) };
}

/** The name that counts for this login and later ones: see `RememberedNames`. The password is known to be right. */
export async function settledName(
  setup: Setup,
  searcher: ServiceBinding,
  found: FoundPerson,
  name: LoginName,
  names: RememberedNames | undefined,
  signal: AbortSignal | undefined,
): Promise<PersonName> {
  const person = await provenName(setup, searcher, found, name, signal);
  const identity = identityOf(found.entry);
  const several = namesIn(setup, found).find((values) => values.length > 1);
  if (names === undefined || identity === undefined || several === undefined || !person.anyVariant) return person;
  const counts = await names.settle(identity, person.folded, (one) => several.some((value) => foldName(value) === foldName(one)));
  return counts === person.folded ? person : provenName(setup, searcher, { ...found, remembered: counts }, name, signal);
}

/**
 * The folded name counts once it is proven to be this person's. It is where it was typed so, but for the case; otherwise the directory is asked for
 * it: a directory may tell variants apart that fold alike, and two entries may share a value of `userattr`. What is not proven stays as the
 * directory spells it.
 */
export async function provenName(
  setup: Setup,
  searcher: ServiceBinding,
  found: FoundPerson,
  name: LoginName,
  signal: AbortSignal | undefined,
): Promise<PersonName> {
  const { case_sensitive_names } = setup.config;
  const known = nameOfFound(setup, found, name);
  for (const verbatim of new Set([known, name.typed])) {
    const folded = userName(verbatim, case_sensitive_names);
    if (isTypedSo(name, folded) || (await finds(setup, searcher, folded, found.entry, signal)))
      return { verbatim, folded, anyVariant: true };
  }
  const verbatim = foldName(known) === foldName(name.typed) ? known : name.typed;
  return { verbatim, folded: case_sensitive_names ? verbatim : verbatim.toLowerCase(), anyVariant: false };
}

/** The search that found the person was for this name, whatever the case. */
export function isTypedSo({ typed }: LoginName, folded: string): boolean {
  return foldName(folded) === typed.toLowerCase();
}

async function finds(
  setup: Setup,
  searcher: ServiceBinding,
  name: string,
  person: LdapEntry,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    const { entries } = await searchUsers(setup, searcher, name, [], signal);
    return entries.length === 1 && entries[0]!.dn === person.dn && entries[0]!.server === person.server;
  } catch (error) {
    if (error instanceof LdapError && error.code === resultCode.sizeLimitExceeded) return false;
    throw directoryFailed(error);
  }
}

/** The name of who has bound without a search: by the own entry, or else by what the directory says that the connection is bound as. */
export async function nameOfBound(
  setup: Setup,
  connection: Connection,
  entry: LdapEntry | undefined,
  name: LoginName,
  signal: AbortSignal | undefined,
): Promise<PersonName> {
  const verbatim = (entry && nameInEntry(setup, entry)) ?? (await nameByConnection(setup, connection, signal)) ?? name.typed;
  return { verbatim, folded: userName(verbatim, setup.config.case_sensitive_names), anyVariant: true };
}

function nameInEntry(setup: Setup, entry: LdapEntry): string | undefined {
  if (setup.config.upndomain === '') return leafValue(entry.dn, setup.userAttribute);
  for (const value of entry.values('userPrincipalName')) {
    const name = withoutDomain(setup.config, value);
    if (name !== value) return name;
  }
  return entry.first('sAMAccountName');
}

/** Undefined where the directory does not tell, or tells another kind of name. */
async function nameByConnection(setup: Setup, connection: Connection, signal: AbortSignal | undefined): Promise<string | undefined> {
  let identity: string;
  try {
    identity = await connection.whoAmI({ signal });
  } catch (error) {
    if (tellsNothing(error)) return undefined;
    throw directoryFailed(error);
  }
  if (identity.startsWith('dn:')) return setup.config.upndomain === '' ? leafValue(identity.slice(3), setup.userAttribute) : undefined;
  const name = identity.startsWith('u:') ? withoutDomain(setup.config, identity.slice(2)) : '';
  return name === '' || name.includes('\\') ? undefined : name;
}

/** The value of the attribute in the leaf of a name: who binds by name has named exactly that one. */
function leafValue(dn: string, attribute: string): string | undefined {
  try {
    return parseDn(dn)[0]?.find(({ type, encoded }) => type.toLowerCase() === attribute.toLowerCase() && !encoded)?.value;
  } catch (error) {
    if (error instanceof DnSyntaxError) return undefined;
    throw error;
  }
}

const timeLimitExceeded = 3;
const adminLimitExceeded = 11;
const other = 80;
const outages = new Set<unknown>([timeLimitExceeded, adminLimitExceeded, resultCode.busy, resultCode.unavailable, other]);

/** The directory has answered, and will answer the same next time: it does not show what was asked for. */
export function tellsNothing(error: unknown): boolean {
  return error instanceof LdapError && error.answered && !outages.has(error.code);
}

function isPrincipalName(attribute: string): boolean {
  return attribute.toLowerCase() === 'userprincipalname';
}
