import { ExactNumber } from '@strongroom/engine-sdk';

/** A value that a bound can have: no object, no list, no null. */
export type Scalar = string | number | boolean | ExactNumber;

export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'boolean' || isNumber(value);
}

export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** Whether two scalars are the same JSON value. A number equals the same number however it is written (`5`, `5.0`, `50e-1`), never its text. */
export function sameScalar(a: Scalar, b: Scalar): boolean {
  return isNumber(a) && isNumber(b) ? decimal(a) === decimal(b) : a === b;
}

/** One value as a list of one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** One canonical form for each number: sign, digits without zeros at the ends, and the power of ten. */
function decimal(value: number | ExactNumber): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(value)) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`;
}
