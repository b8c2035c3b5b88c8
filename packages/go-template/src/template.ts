import { BUILTIN_FUNCTIONS } from './builtin-functions.ts';
import { Compiler } from './compiler.ts';
import { parseTemplate } from './parser.ts';
import { RenderState } from './state.ts';
import { STRING_FUNCTIONS } from './string-functions.ts';
import { TemplateRenderError, TemplateSyntaxError } from './template-error.ts';
import type { TemplateEnvironment, TemplateFunction } from './template-function.ts';
import { finishedText } from './text-bytes.ts';
import type { TemplateValue } from './value.ts';
import { toValue } from './value.ts';

/**
 * What a template is rendered with. Strings, numbers, booleans, lists, objects (every field named must exist) and `Map`s
 * (a missing key yields `<no value>`).
 */
export type TemplateData = Readonly<Record<string, unknown>>;

export interface TemplateOptions {
  /** The name in messages. Default `template`. */
  readonly name?: string;
  /** The fields the data will have. Naming another one is then found when compiling, not only when rendering. */
  readonly fields?: readonly string[];
  /** What the data is called in messages about unknown fields, e.g. `dbplugin.UsernameMetadata`. */
  readonly typeName?: string;
  /** Functions besides the usual ones, or instead of those of the same name. */
  readonly functions?: Readonly<Record<string, TemplateFunction>>;
  /** Leaves out `random`, `truncate` and the like; what remains is Go's own. */
  readonly builtinsOnly?: boolean;
  /** The longest result, in UTF-16 units. Default 1 MiB. */
  readonly maxOutput?: number;
  /** The most rounds of all loops together. Default 10,000. */
  readonly maxRounds?: number;
}

/** A compiled template; rendering changes nothing in it. */
export interface Template {
  readonly source: string;
  /** Throws `TemplateRenderError`; what the environment throws passes through. */
  render(data: TemplateData, environment: TemplateEnvironment): string;
}

const MAX_SOURCE = 256 * 1024;

/**
 * Compiles a template of Go's text/template language. There are no `define`, `template` and `block`, and no methods.
 * Throws `TemplateSyntaxError`; for what parses but would fail with any data, `TemplateRenderError`.
 */
export function compileTemplate(source: string, options: TemplateOptions = {}): Template {
  const name = options.name ?? 'template';
  if (source.length > MAX_SOURCE) throw new TemplateSyntaxError(name, 1, `longer than ${MAX_SOURCE} characters`);
  const functions = new Map(
    Object.entries({ ...BUILTIN_FUNCTIONS, ...(options.builtinsOnly === true ? {} : STRING_FUNCTIONS), ...options.functions }),
  );
  const { nodes, slots } = parseTemplate(source, name, (called) => functions.has(called));
  const fields = options.fields === undefined ? undefined : new Set(options.fields);
  const run = new Compiler({ source, name, functions, fields, typeName: options.typeName }).list(nodes, true);
  const limits = { output: options.maxOutput ?? 1024 * 1024, rounds: options.maxRounds ?? 10_000 };

  return {
    source,
    render(data, environment) {
      const root = toValue(data);
      const state = new RenderState(environment, new Array<TemplateValue>(slots).fill(null), limits);
      state.variables[0] = root;
      try {
        run(state, root);
      } catch (error) {
        if (error instanceof TemplateRenderError && !error.message.startsWith('template: ')) {
          throw new TemplateRenderError(`template: ${name}: ${error.message}`, error.reason);
        }
        throw error;
      }
      return finishedText(state.output);
    },
  };
}
