/** A floating-point number, distinguished from the integers that plain numbers stand for. */
export class GoFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** What an expression of a template yields. Integers are plain numbers, `null` is Go's nil. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | GoFloat
  | readonly unknown[]
  | ReadonlyMap<string, unknown>
  | { readonly [field: string]: unknown };

/** Takes a value from outside in: fractions become floats, what Go has no like for becomes nil. */
export function toValue(value: unknown): TemplateValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? value : new GoFloat(value);
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    case 'object':
      return value as TemplateValue;
    default:
      return null;
  }
}

/** Go's name of the value's type, as it appears in messages. */
export function typeName(value: TemplateValue): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'int';
    case 'boolean':
      return 'bool';
    default:
      if (value === null) return '<nil>';
      if (value instanceof GoFloat) return 'float64';
      if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? '[]string' : '[]interface {}';
      return 'map[string]interface {}';
  }
}

/** What `if` asks: neither empty nor zero nor nil. Objects with named fields are always true. */
export function isTrue(value: TemplateValue): boolean {
  if (value === null) return false;
  if (value instanceof GoFloat) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return typeof value === 'object' ? true : Boolean(value);
}

/** Keys and values of a map or of an object's fields, sorted by key. Undefined when the value is neither. */
export function entriesOf(value: TemplateValue): readonly (readonly [string, TemplateValue])[] | undefined {
  if (value === null || typeof value !== 'object' || value instanceof GoFloat || Array.isArray(value)) return undefined;
  const entries = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value);
  return entries.map(([key, item]) => [key, toValue(item)] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
