/** A float as Go prints it with verb e, E, f, F, g or G; `precision` -1 means as many digits as needed. Rounds half to even. */
export function formatGoFloat(value: number, verb: string, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  const lower = verb.toLowerCase();
  const text = lower === 'e' ? exponential(decimal(size, precision)) : lower === 'f' ? fixed(size, precision) : general(size, precision);
  return sign + (verb === 'E' || verb === 'G' ? text.toUpperCase() : text);
}

/** 0.d1d2d3… times ten to the `exponent` + 1: digits and the exponent of the first one. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/** No float has more decimal places than this; further ones are zeros. */
const EXACT_PLACES = 1100;

function exponential({ digits, exponent }: Decimal): string {
  const mantissa = digits.length > 1 ? `${digits.charAt(0)}.${digits.slice(1)}` : digits;
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function fixed(size: number, precision: number): string {
  if (precision < 0) {
    const { digits, exponent } = decimal(size, -1);
    return plain(digits, exponent);
  }
  const places = Math.min(precision, EXACT_PLACES);
  const text = scaled(size, places)
    .toString()
    .padStart(places + 1, '0');
  const whole = text.slice(0, text.length - places);
  return precision === 0 ? whole : `${whole}.${text.slice(text.length - places).padEnd(precision, '0')}`;
}

/** The exponent form below 1e-4 and from ten to the precision on (of 6 where none is given), else the plain one. */
function general(size: number, precision: number): string {
  const rounded = decimal(size, precision < 0 ? -1 : Math.max(precision, 1) - 1);
  const digits = rounded.digits.replace(/0+$/, '') || '0';
  let limit = precision < 0 ? 6 : Math.max(precision, 1);
  if (precision > digits.length && digits.length >= rounded.exponent + 1) limit = digits.length;
  const { exponent } = rounded;
  return exponent < -4 || exponent >= limit ? exponential({ digits, exponent }) : plain(digits, exponent);
}

/** Rounded to `places` digits behind the first one; the shortest that reads back the same when `places` is -1. */
function decimal(size: number, places: number): Decimal {
  const [mantissa = '0', exponentText = '0'] = size.toExponential().split('e');
  const exponent = Number(exponentText);
  if (places < 0) return { digits: mantissa.replace('.', ''), exponent };
  const exact = Math.min(places, EXACT_PLACES);
  const digits = scaled(size, exact - exponent).toString();
  if (digits.length > exact + 1) return { digits: digits.slice(0, exact + 1).padEnd(places + 1, '0'), exponent: exponent + 1 };
  return { digits: digits.padEnd(places + 1, '0'), exponent };
}

/** `size` times ten to the `power`, exactly, rounded half to even. */
function scaled(size: number, power: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  const raw = bits.getBigUint64(0);
  const biased = Number(raw >> 52n);
  const fraction = raw & ((1n << 52n) - 1n);
  const binary = Math.max(biased, 1) - 1075;
  let numerator = biased === 0 ? fraction : fraction | (1n << 52n);
  let denominator = 1n;
  if (binary >= 0) numerator <<= BigInt(binary);
  else denominator <<= BigInt(-binary);
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  return twice > denominator || (twice === denominator && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

function plain(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, '0');
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
