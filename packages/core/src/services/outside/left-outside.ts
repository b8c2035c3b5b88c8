import { Type, type Static } from 'typebox';
import { checkRecord, type AnyIntent, type AnySecretType, type OutsideThing } from '@strongroom/engine-sdk';

/** What the server lets go of while it stands in an outside system, as operators read it. Holds no secret. */
export interface LeftOutside extends OutsideThing {
  /** The lease that is dropped. */
  readonly lease?: string;
  /** The entry of the journal that is forgotten. */
  readonly intent?: string;
}

/** The same as answers show it. */
export const LeftOutsideData = Type.Object({
  kind: Type.String({ description: 'What it is: `database user`, `access key`.' }),
  name: Type.String({ description: 'Its name in the outside system.' }),
  system: Type.Optional(Type.String({ description: 'Where it is.' })),
  detail: Type.Optional(Type.String()),
  lease_id: Type.Optional(Type.String()),
  journal_id: Type.Optional(Type.String()),
});

/** Longest text of a thing; an engine that tells more is cut off. */
const LONGEST = 500;
/** Things that a warning names. */
const NAMED = 5;

/** Undefined: the lease has nothing outside. */
export function leftByLease(
  id: string,
  record: { readonly type: string; readonly internal: Readonly<Record<string, unknown>> },
  type: AnySecretType | undefined,
): LeftOutside | undefined {
  const otherwise = { kind: `secret of type ${record.type}`, name: id, lease: id };
  if (!type?.outside) return otherwise;
  try {
    const thing = type.outside(checkRecord(type.internal, record.internal, `lease ${id}`));
    return thing && { ...cut(thing), lease: id };
  } catch {
    return otherwise;
  }
}

/** Undefined: the change has nothing outside. */
export function leftByIntent(
  id: string,
  record: { readonly kind: string; readonly entry: Readonly<Record<string, unknown>> },
  intent: AnyIntent | undefined,
): LeftOutside | undefined {
  const otherwise = { kind: `unfinished change (${record.kind})`, name: id, intent: id };
  if (!intent?.outside) return otherwise;
  try {
    const thing = intent.outside(checkRecord(intent.entry, record.entry, `intent ${id}`));
    return thing && { ...cut(thing), intent: id };
  } catch {
    return otherwise;
  }
}

/** What an engine says, with the keys that are meant and no others. */
export function cut({ kind, name, system, detail }: OutsideThing): OutsideThing {
  return {
    kind: shortened(kind),
    name: shortened(name),
    ...(system === undefined ? {} : { system: shortened(system) }),
    ...(detail === undefined ? {} : { detail: shortened(detail) }),
  };
}

/** As answers show it. */
export function leftData(left: readonly LeftOutside[]): Static<typeof LeftOutsideData>[] {
  return left.map(({ lease, intent, ...thing }) => ({
    ...thing,
    ...(lease === undefined ? {} : { lease_id: lease }),
    ...(intent === undefined ? {} : { journal_id: intent }),
  }));
}

/** One sentence; undefined where nothing is left. */
export function leftWarning(left: readonly LeftOutside[]): string | undefined {
  if (left.length === 0) return undefined;
  const named = left.slice(0, NAMED).map(({ kind, name, system }) => `${kind} ${name}${system === undefined ? '' : ` (${system})`}`);
  const more = left.length > NAMED ? `, and ${left.length - NAMED} more` : '';
  return `${left.length === 1 ? '1 thing stays' : `${left.length} things stay`} outside, and the server no longer looks after ${left.length === 1 ? 'it' : 'them'}: ${named.join(', ')}${more}`;
}

function shortened(text: unknown): string {
  const whole = String(text);
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
}
