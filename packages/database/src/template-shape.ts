import { compileTemplate, type TemplateEnvironment, type TemplateFunction, type TemplateValue } from '@strongroom/go-template';
import {
  dateText,
  encodedText,
  hexText,
  mappedClass,
  namePart,
  randomText,
  unixMillis,
  unixSeconds,
  uuidText,
  type CharacterClass,
} from './character-class.ts';
import { longest, NameShape, type ShapePart } from './name-shape.ts';

/** So many decisions of a template are followed in both directions. */
const MOST_DECISIONS = 4;
/** Stand-ins for parts while the template runs: characters for private use, which no name holds. */
const FIRST_STAND_IN = 0xe000;
const LAST_STAND_IN = 0xf8ff;

/** The template does what cannot be followed; the text says what. */
export class ShapeUnknown extends Error {}

/**
 * The shapes of the names that a `username_template` can make: the template runs with functions that give parts of a shape in place of text.
 * @throws ShapeUnknown
 */
export function shapesOf(source: string): NameShape[] {
  const shapes: NameShape[] = [];
  for (let choices = 0, decided = 0; choices < 2 ** decided || choices === 0; choices += 1) {
    const tracer = new Tracer(choices);
    shapes.push(new NameShape(tracer.run(source)));
    decided = Math.max(decided, tracer.decided);
    if (decided > MOST_DECISIONS) throw new ShapeUnknown(`it decides more than ${MOST_DECISIONS} times`);
  }
  return shapes;
}

/** One run of the template, in which decisions come out as the bits of `choices` say. */
class Tracer {
  decided = 0;
  readonly #choices: number;
  readonly #parts: ShapePart[] = [];
  #fault: ShapeUnknown | undefined;

  constructor(choices: number) {
    this.#choices = choices;
  }

  run(source: string): ShapePart[] {
    if ([...source].some(isStandIn)) throw new ShapeUnknown('it holds characters for private use');
    const part = this.#text([{ run: namePart, min: 0, max: Infinity }]);
    try {
      const template = compileTemplate(source, { fields: ['DisplayName', 'RoleName'], functions: this.#functions() });
      return this.#read(template.render({ DisplayName: part, RoleName: part }, NOWHERE));
    } catch (error) {
      throw this.#fault ?? new ShapeUnknown((error as Error).message);
    }
  }

  #functions(): Record<string, TemplateFunction> {
    const fixed = (run: CharacterClass, length: number): string => this.#text([{ run, min: length, max: length }]);
    const text = (call: (parts: ShapePart[]) => ShapePart[]): TemplateFunction => ({
      parameters: ['string'],
      call: ([value]) => this.#text(call(this.#read(value as string))),
    });
    const nothing = (run: CharacterClass, length: number): TemplateFunction => ({ parameters: [], call: () => fixed(run, length) });
    const decision: TemplateFunction = {
      parameters: ['any'],
      rest: 'any',
      call: () => ((this.#choices >> this.decided++) & 1) === 1,
    };
    const unknown = (name: string): TemplateFunction => ({ parameters: [], rest: 'any', call: () => this.#refuse(`it uses ${name}`) });
    const refused = ['len', 'index', 'slice', 'html', 'js', 'urlquery', 'glob', 'decode_base64', 'decode_hex', 'println'];
    return {
      ...Object.fromEntries(refused.map((name) => [name, unknown(name)])),
      ...Object.fromEntries(['eq', 'ne', 'lt', 'le', 'gt', 'ge'].map((name) => [name, decision])),
      random: { parameters: ['int'], call: ([length]) => fixed(randomText, length as number) },
      uuid: nothing(uuidText, 36),
      unix_time: nothing(unixSeconds, 10),
      unix_time_millis: nothing(unixMillis, 13),
      timestamp: { parameters: ['string'], call: () => this.#text([{ run: dateText, min: 1, max: 64 }]) },
      sha256: text((parts) => [{ run: { ...hexText, random: isRandom(parts) }, min: 64, max: 64 }]),
      hex: text((parts) => [{ run: { ...hexText, random: isRandom(parts) }, min: 0, max: longest(parts) * 8 }]),
      base64: text((parts) => [{ run: encodedText, min: 0, max: longest(parts) * 6 }]),
      uppercase: text((parts) => parts.map((part) => this.#cased(part, (char) => char.toUpperCase()))),
      lowercase: text((parts) => parts.map((part) => this.#cased(part, (char) => char.toLowerCase()))),
      replace: {
        parameters: ['string', 'string', 'string'],
        call: ([from, to, value]) =>
          this.#text(this.#read(value as string).map((part) => this.#replaced(part, from as string, to as string))),
      },
      truncate: {
        parameters: ['int', 'string'],
        call: ([length, value]) => this.#text(this.#cut(this.#read(value as string), length as number)),
      },
      truncate_sha256: {
        parameters: ['int', 'string'],
        call: ([length, value]) => {
          const parts = this.#read(value as string);
          if (longest(parts) <= (length as number)) return value as string;
          return this.#refuse('it uses truncate_sha256 on what is longer');
        },
      },
      print: { parameters: [], rest: 'any', call: (args) => args.map((value) => this.#printed(value)).join('') },
      printf: { parameters: ['string'], rest: 'any', call: ([format, ...args]) => this.#printf(format as string, args) },
    };
  }

  #printf(format: string, args: readonly TemplateValue[]): string {
    let used = 0;
    const out = format.replace(/%(%|[-+# 0]*\d*(?:\.\d+)?[a-zA-Z])?/g, (_, verb: string | undefined) => {
      if (verb === '%') return '%';
      if (verb !== 's' && verb !== 'v' && verb !== 'd') return this.#refuse(`it uses printf with %${verb ?? ''}`);
      if (used >= args.length) return this.#refuse('it uses printf with too few values');
      return this.#printed(args[used++]!);
    });
    return used === args.length ? out : this.#refuse('it uses printf with too many values');
  }

  #printed(value: TemplateValue): string {
    if (typeof value === 'string') return value;
    return typeof value === 'number' ? String(value) : this.#refuse('it prints what is no text');
  }

  #cut(parts: ShapePart[], limit: number): ShapePart[] {
    if (longest(parts) <= limit) return parts;
    const [only] = parts;
    if (parts.length === 1 && only && 'run' in only && !only.run.fits) {
      return [{ ...only, min: Math.min(only.min, limit), max: limit }];
    }
    if (parts.some((part) => 'cut' in part)) return this.#refuse('it cuts what it has cut');
    return [{ cut: parts, limit }];
  }

  #cased(part: ShapePart, change: (char: string) => string): ShapePart {
    if ('literal' in part) return { literal: change(part.literal) };
    if ('cut' in part) return { ...part, cut: part.cut.map((inner) => this.#cased(inner, change)) };
    const inverse = (char: string): string[] => (change(char) === char ? [char, char.toLowerCase(), char.toUpperCase()] : []);
    return { ...part, run: { ...mappedClass(part.run, inverse), ...(isDigits(part.run) && part.run.fits ? { fits: part.run.fits } : {}) } };
  }

  #replaced(part: ShapePart, from: string, to: string): ShapePart {
    if ('literal' in part) return { literal: part.literal.replaceAll(from, to) };
    if (from.length !== 1 || to.length > 1) return this.#refuse('it replaces more than single characters');
    if ('cut' in part) {
      return to === ''
        ? this.#refuse('it removes characters of what it has cut')
        : { ...part, cut: part.cut.map((inner) => this.#replaced(inner, from, to)) };
    }
    if (!part.run.has(from)) return part;
    const inverse = (char: string): string[] => (char === from ? [] : char === to ? [char, from] : [char]);
    return { ...part, run: mappedClass(part.run, inverse), min: to === '' ? 0 : part.min };
  }

  /** The parts as a text that the template can work with. */
  #text(parts: readonly ShapePart[]): string {
    return parts
      .map((part) => {
        if ('literal' in part) return part.literal;
        this.#parts.push(part);
        const code = FIRST_STAND_IN + this.#parts.length - 1;
        return code > LAST_STAND_IN ? this.#refuse('it has too many parts') : String.fromCharCode(code);
      })
      .join('');
  }

  #read(text: string): ShapePart[] {
    const parts: ShapePart[] = [];
    for (const char of text) {
      const last = parts.at(-1);
      if (isStandIn(char)) parts.push(this.#parts[char.charCodeAt(0) - FIRST_STAND_IN]!);
      else if (last && 'literal' in last) parts[parts.length - 1] = { literal: last.literal + char };
      else parts.push({ literal: char });
    }
    return parts;
  }

  #refuse(reason: string): never {
    throw (this.#fault = new ShapeUnknown(reason));
  }
}

const NOWHERE: TemplateEnvironment = { now: () => new Date(0), randomBytes: (count) => new Uint8Array(count) };

function isStandIn(char: string): boolean {
  const code = char.charCodeAt(0);
  return code >= FIRST_STAND_IN && code <= LAST_STAND_IN;
}

function isRandom(parts: readonly ShapePart[]): boolean {
  return parts.some((part) => 'run' in part && part.run.random === true);
}

function isDigits(run: CharacterClass): boolean {
  return !run.has('a') && !run.has('A') && run.has('0');
}
