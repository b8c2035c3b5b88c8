import { formatGoFloat } from './go-number.ts';
import { canBackquote, goQuote, isPrintable } from './go-quote.ts';
import { textToBytes } from './text-bytes.ts';
import type { TemplateValue } from './value.ts';
import { GoFloat, entriesOf, toValue, typeName } from './value.ts';

/** Widths and precisions above this are refused, as Go does. */
const LARGEST_NUMBER = 1_000_000;

interface Flags {
  plus: boolean;
  minus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%#v`. */
  goSyntax: boolean;
  width: number | undefined;
  precision: number | undefined;
}

/** Go's `fmt.Sprintf`: all verbs and flags for the values a template knows. `spend` is called with the size of each piece. */
export function goSprintf(format: string, args: readonly TemplateValue[], spend: (size: number) => void): string {
  return new Printer(args, spend).print(format);
}

/** Go's `fmt.Sprint`: blanks between operands where neither is a string. */
export function goSprint(args: readonly TemplateValue[]): string {
  return args
    .map((arg, index) => (index > 0 && typeof arg !== 'string' && typeof args[index - 1] !== 'string' ? ` ${goText(arg)}` : goText(arg)))
    .join('');
}

/** Go's `fmt.Sprintln`. */
export function goSprintln(args: readonly TemplateValue[]): string {
  return `${args.map(goText).join(' ')}\n`;
}

/** The value as `%v` prints it. */
export function goText(value: TemplateValue): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<nil>';
  return formatValue(value, 'v', noFlags());
}

class Printer {
  readonly #args: readonly TemplateValue[];
  readonly #spend: (size: number) => void;
  #next = 0;
  #reordered = false;
  #goodIndex = true;

  constructor(args: readonly TemplateValue[], spend: (size: number) => void) {
    this.#args = args;
    this.#spend = spend;
  }

  print(format: string): string {
    let out = '';
    for (let at = 0; at < format.length;) {
      const percent = format.indexOf('%', at);
      if (percent < 0) {
        out += format.slice(at);
        break;
      }
      out += format.slice(at, percent);
      const { text, end } = this.#directive(format, percent + 1);
      this.#spend(text.length);
      out += text;
      at = end;
    }
    if (!this.#reordered && this.#next < this.#args.length) out += this.#extra();
    return out;
  }

  #extra(): string {
    const rest = this.#args.slice(this.#next);
    return `%!(EXTRA ${rest.map((arg) => (arg === null ? '<nil>' : `${typeName(arg)}=${goText(arg)}`)).join(', ')})`;
  }

  #directive(format: string, start: number): { text: string; end: number } {
    const flags = noFlags();
    let at = start;
    this.#goodIndex = true;
    let afterIndex: boolean;
    let broken = '';

    for (; '+-# 0'.includes(format[at] ?? 'end'); at += 1) setFlag(flags, format[at] ?? '');

    [at, afterIndex] = this.#index(format, at);
    if (format[at] === '*') {
      at += 1;
      const width = this.#number();
      if (width === undefined) broken += '%!(BADWIDTH)';
      else if (width < 0) {
        flags.minus = true;
        flags.zero = false;
        flags.width = -width;
      } else flags.width = width;
      afterIndex = false;
    } else {
      const digits = digitsAt(format, at);
      at += digits.length;
      if (digits !== '') {
        if (afterIndex) this.#goodIndex = false;
        if (Number(digits) <= LARGEST_NUMBER) flags.width = Number(digits);
        else return { text: '%!(NOVERB)', end: format.length };
      }
    }

    if (format[at] === '.') {
      at += 1;
      if (afterIndex) this.#goodIndex = false;
      [at, afterIndex] = this.#index(format, at);
      if (format[at] === '*') {
        at += 1;
        const precision = this.#number();
        if (precision === undefined) broken += '%!(BADPREC)';
        else if (precision < 0) broken += '%!(BADPREC)';
        else flags.precision = precision;
        afterIndex = false;
      } else {
        const digits = digitsAt(format, at);
        at += digits.length;
        if (Number(digits) > LARGEST_NUMBER) return { text: '%!(NOVERB)', end: format.length };
        flags.precision = Number(digits);
      }
    }
    if (!afterIndex) [at] = this.#index(format, at);

    const verb = at < format.length ? String.fromCodePoint(format.codePointAt(at) ?? 0) : undefined;
    if (verb === undefined) return { text: `${broken}%!(NOVERB)`, end: format.length };
    const end = at + verb.length;
    if (verb === '%') return { text: `${broken}%`, end };
    if (!this.#goodIndex) return { text: `${broken}%!${verb}(BADINDEX)`, end };
    if (this.#next >= this.#args.length) return { text: `${broken}%!${verb}(MISSING)`, end };
    const arg = this.#args[this.#next] ?? null;
    this.#next += 1;
    this.#spend((flags.width ?? 0) + (flags.precision ?? 0));
    if (verb === 'v') Object.assign(flags, { plus: false, sharp: false, goSyntax: flags.sharp });
    return { text: broken + formatValue(arg, verb, flags), end };
  }

  /** Reads an explicit argument index such as `[2]`. */
  #index(format: string, at: number): [number, boolean] {
    if (format[at] !== '[') return [at, false];
    this.#reordered = true;
    const close = format.indexOf(']', at);
    if (close < 0) {
      this.#goodIndex = false;
      return [at + 1, false];
    }
    const digits = format.slice(at + 1, close);
    const index = /^\d{1,7}$/.test(digits) ? Number(digits) - 1 : -1;
    if (index < 0 || index >= this.#args.length) {
      this.#goodIndex = false;
      return [close + 1, digits !== '' && /^\d+$/.test(digits)];
    }
    this.#next = index;
    return [close + 1, true];
  }

  /** The argument a `*` stands for. */
  #number(): number | undefined {
    const arg = this.#args[this.#next];
    if (this.#next < this.#args.length) this.#next += 1;
    return typeof arg === 'number' && Math.abs(arg) <= LARGEST_NUMBER ? arg : undefined;
  }
}

function noFlags(): Flags {
  return { plus: false, minus: false, sharp: false, space: false, zero: false, goSyntax: false, width: undefined, precision: undefined };
}

function setFlag(flags: Flags, char: string): void {
  if (char === '+') flags.plus = true;
  else if (char === '-') flags.minus = true;
  else if (char === '#') flags.sharp = true;
  else if (char === ' ') flags.space = true;
  else flags.zero = true;
}

function digitsAt(format: string, at: number): string {
  return /\d*/y.exec(format.slice(at, at + 16))?.[0] ?? '';
}

function formatValue(value: TemplateValue, verb: string, flags: Flags): string {
  if (verb === 'T') return formatString(typeName(value), 's', flags);
  if (value === null) return verb === 'v' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
  if (typeof value === 'string') return formatString(value, verb, flags);
  if (typeof value === 'number') return formatInteger(value, verb, flags);
  if (typeof value === 'boolean') return verb === 'v' || verb === 't' ? pad(String(value), flags) : badVerb(value, verb, flags);
  if (value instanceof GoFloat) return formatFloat(value.value, verb, flags);
  if (Array.isArray(value)) return `[${value.map((item) => formatValue(toValue(item), verb, flags)).join(' ')}]`;
  const entries = entriesOf(value) ?? [];
  return `map[${entries.map(([key, item]) => `${formatValue(key, verb, flags)}:${formatValue(item, verb, flags)}`).join(' ')}]`;
}

function badVerb(value: TemplateValue, verb: string, flags: Flags): string {
  return `%!${verb}(${typeName(value)}=${formatValue(value, 'v', flags)})`;
}

function formatString(text: string, verb: string, flags: Flags): string {
  const cut = (): string => (flags.precision === undefined ? text : [...text].slice(0, flags.precision).join(''));
  switch (verb) {
    case 'v':
      return pad(flags.goSyntax ? goQuote(cut()) : cut(), flags);
    case 's':
      return pad(cut(), flags);
    case 'q': {
      const part = cut();
      return pad(flags.sharp && canBackquote(part) ? `\`${part}\`` : goQuote(part, flags.plus), flags);
    }
    case 'x':
    case 'X':
      return pad(hexText(text, verb, flags), flags);
    default:
      return badVerb(text, verb, flags);
  }
}

function hexText(text: string, verb: string, flags: Flags): string {
  const bytes = textToBytes(text);
  const part = flags.precision === undefined ? bytes : bytes.subarray(0, flags.precision);
  if (part.length === 0) return '';
  const prefix = flags.sharp ? '0x' : '';
  const pairs = part.toString('hex').match(/../g) ?? [];
  const hex = prefix + pairs.join(flags.space ? ` ${prefix}` : '');
  return verb === 'X' ? hex.toUpperCase() : hex;
}

const BASES: Readonly<Record<string, readonly [number, string]>> = {
  v: [10, ''],
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, '0o'],
  x: [16, '0x'],
  X: [16, '0X'],
};

function formatInteger(value: number, verb: string, flags: Flags): string {
  if (verb === 'c') return pad(runeText(value), flags);
  if (verb === 'q') return pad(goQuote(runeText(value), flags.plus, "'"), flags);
  if (verb === 'U') return unicodeText(value, flags);
  const base = Object.hasOwn(BASES, verb) ? BASES[verb] : undefined;
  if (base === undefined) return badVerb(value, verb, flags);
  const [radix, prefix] = base;
  let sign = value < 0 ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  let digits = Math.abs(value).toString(radix);
  if (verb === 'X') digits = digits.toUpperCase();
  if (flags.precision !== undefined) {
    if (flags.precision === 0 && value === 0) return pad('', { ...flags, zero: false });
    digits = digits.padStart(flags.precision, '0');
  } else if (flags.zero && !flags.minus && flags.width !== undefined) {
    digits = digits.padStart(flags.width - sign.length, '0');
  }
  if (verb === 'O' || (flags.sharp && !(radix === 8 && digits.startsWith('0')))) sign += prefix;
  return pad(sign + digits, { ...flags, zero: false });
}

function runeText(value: number): string {
  return value < 0 || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) ? '\ufffd' : String.fromCodePoint(value);
}

function unicodeText(value: number, flags: Flags): string {
  const hex = (value < 0 ? (1n << 64n) + BigInt(value) : BigInt(value)).toString(16).toUpperCase();
  const text = `U+${hex.padStart(Math.max(4, flags.precision ?? 0), '0')}`;
  const char = runeText(value);
  const shown = flags.sharp && value >= 0 && value <= 0x10ffff && isPrintable(char) ? `${text} '${char}'` : text;
  return pad(shown, { ...flags, zero: false });
}

function formatFloat(value: number, verb: string, flags: Flags): string {
  if (!/^[veEfFgG]$/.test(verb)) return badVerb(new GoFloat(value), verb, flags);
  const byDefault = verb === 'v' || verb === 'g' || verb === 'G' ? -1 : 6;
  let text = formatGoFloat(value, verb === 'v' ? 'g' : verb, flags.precision ?? byDefault);
  if (flags.plus && !/^[+-]/.test(text)) text = `+${text}`;
  if (flags.space && !/^[+-]/.test(text)) text = ` ${text}`;
  if (!flags.plus && text === '+Inf') text = flags.space ? ' Inf' : '+Inf';
  if (!flags.zero || flags.minus || flags.width === undefined || !Number.isFinite(value)) return pad(text, { ...flags, zero: false });
  const sign = /^[+ -]/.exec(text)?.[0] ?? '';
  return sign + text.slice(sign.length).padStart(flags.width - sign.length, '0');
}

function pad(text: string, flags: Flags): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - [...text].length;
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}
