import { BadRequest, fieldSpec, requireSecretsAgain, type Field } from '@strongroom/engine-sdk';
import { MASK, secretFields } from '@strongroom/sync-sdk';
import type { TObject, TProperties, TSchema } from 'typebox';

type Values = Readonly<Record<string, unknown>>;

/**
 * A plugin's fields as a path declares them. What is required is checked on what a write leaves, and defaults are filled in when something is
 * created, so that a write may leave out what is stored already.
 */
export function partial(schema: TObject): TProperties {
  return Object.fromEntries(
    Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) => {
      const { required: _checkedLater, ...spec } = fieldSpec(field);
      const { default: _filledInLater, ...rest } = field as TSchema & { default?: unknown };
      return [name, { ...rest, 'x-field': spec } as Field<unknown>];
    }),
  );
}

/**
 * What is stored after a write: the old values, then what was sent. Stars keep a secret, an empty text takes a value away.
 * @throws BadRequest naming secrets that stars should keep and that are not stored
 */
export function merged(schema: TObject, before: Values | undefined, sent: Values, supplied: ReadonlySet<string>): Record<string, unknown> {
  const secrets = new Set(secretFields(schema));
  const nothingToKeep = [...secrets].filter((name) => supplied.has(name) && sent[name] === MASK && isEmpty(before?.[name]));
  if (nothingToKeep.length > 0) {
    const names = nothingToKeep.join(', ');
    throw new BadRequest(`${names}: "${MASK}" keeps what is stored, and nothing is stored: send the value itself, or leave it out`);
  }
  const values: Record<string, unknown> = { ...before };
  for (const [name, field] of Object.entries(schema.properties as Record<string, TSchema & { default?: unknown }>)) {
    const value = sent[name];
    if (supplied.has(name) && !(secrets.has(name) && value === MASK)) {
      if (value === '' || value === undefined) delete values[name];
      else values[name] = value;
    }
    if (values[name] === undefined && field.default !== undefined && (before === undefined || supplied.has(name)))
      values[name] = field.default;
  }
  return values;
}

/** @throws BadRequest naming every required field that is missing */
export function checkRequired(schema: TObject, values: Values): void {
  const missing = Object.entries(schema.properties as Record<string, TSchema>)
    .filter(([name, field]) => fieldSpec(field).required && isEmpty(values[name]))
    .map(([name]) => `"${name}"`);
  if (missing.length > 0) throw new BadRequest(`missing required field${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`);
}

/** A text that names a server, in whatever field it stands. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/** A write of fields that hold addresses and secrets. */
interface SecretsWrite {
  readonly before: Values | undefined;
  readonly after: Values;
  readonly sent: Values;
  readonly supplied: ReadonlySet<string>;
  /** `req.caller.sudo` */
  readonly sudo: boolean;
}

/**
 * A secret goes only to addresses that were there when it was sent: whoever changes one sends the secrets again, and so knows them.
 * @throws BadRequest naming the secrets that were not sent
 */
export function checkSecretsKnown(schema: TObject, { before, after, sent, supplied, sudo }: SecretsWrite): void {
  const secrets = new Set(secretFields(schema));
  const kept = [...secrets].filter((name) => !isEmpty(before?.[name]) && (!supplied.has(name) || sent[name] === MASK));
  const changed = Object.keys(schema.properties).filter((name) => {
    const values = [before?.[name], after[name]];
    return !secrets.has(name) && values[0] !== values[1] && values.some((value) => typeof value === 'string' && ADDRESS.test(value));
  });
  requireSecretsAgain({ changed, kept, sudo });
}

/** The addresses among the values that are none of the defaults, by field. */
function ownAddresses(schema: TObject, values: Values | undefined): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, field] of Object.entries(schema.properties as Record<string, TSchema & { default?: unknown }>)) {
    const value = values?.[name];
    if (typeof value === 'string' && ADDRESS.test(value) && value !== field.default) found.set(name, value);
  }
  return found;
}

/**
 * The key of a shared account signs for the address of the destination that uses it, and whoever writes a destination need not know the key.
 * @throws BadRequest where another address, or another account, is chosen without sudo
 */
export function checkAccountAddress(
  schema: TObject,
  { collection, field }: { readonly collection: string; readonly field: string },
  { before, after, sudo }: Pick<SecretsWrite, 'before' | 'after' | 'sudo'>,
): void {
  const account = after[field];
  if (sudo || typeof account !== 'string' || account === '') return;
  const known = before?.[field] === account ? ownAddresses(schema, before) : new Map<string, string>();
  const chosen = [...ownAddresses(schema, after)].filter(([name, value]) => known.get(name) !== value).map(([name]) => name);
  if (chosen.length === 0) return;
  throw new BadRequest(
    `${chosen.join(', ')}: ${JSON.stringify(account)} of sys/sync/${collection} would log in at this address; use a token whose policy grants sudo on ` +
      'this path, or the usual address',
  );
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
