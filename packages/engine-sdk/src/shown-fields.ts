import { Type, type TProperties, type TSchema, type TUnsafe } from 'typebox';
import { fieldSpec, type FieldKind } from './field.ts';

const text = { type: 'string' };

/** Values as they are stored: a duration is a number of seconds, an empty list may be null. */
const KINDS: Record<FieldKind, object> = {
  string: text,
  lowercase: text,
  name: text,
  bool: { type: 'boolean' },
  int: { type: 'integer' },
  float: { type: 'number' },
  duration: { type: 'number' },
  signedDuration: { type: 'number' },
  time: text,
  commaStrings: { type: ['array', 'null'], items: text },
  strings: { type: ['array', 'null'], items: text },
  commaInts: { type: ['array', 'null'], items: { type: 'integer' } },
  keyValues: { type: ['object', 'null'], additionalProperties: text },
  map: { type: ['object', 'null'] },
  list: { type: ['array', 'null'], items: {} },
  any: {},
};

/**
 * The answer of a read that shows the fields of its path as they are stored: durations in seconds, secrets left out. Any of them may be absent.
 * `more`: what the answer has beside the fields, or shows in another form.
 */
export function shownFields(fields: TProperties, more: TProperties = {}): TUnsafe<Readonly<Record<string, unknown>>> {
  const shown = Object.entries(fields).filter(([, field]) => !fieldSpec(field).secret);
  const properties = Object.fromEntries(shown.map(([name, field]) => [name, shownField(field)]));
  return Type.Unsafe({ ...Type.Partial(Type.Object({ ...properties, ...more })) });
}

function shownField(field: TSchema): TSchema {
  const { kind } = fieldSpec(field);
  const { description = '' } = field as { description?: string };
  const unit = kind === 'duration' || kind === 'signedDuration' ? ' Seconds.' : '';
  return Type.Unsafe({ ...KINDS[kind], description: `${description}${unit}` });
}
