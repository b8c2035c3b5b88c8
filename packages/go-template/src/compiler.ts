import { goText } from './go-printf.ts';
import type { CommandNode, Node, Operand, PipeNode, RangeNode } from './nodes.ts';
import type { RenderState } from './state.ts';
import { TemplateFunctionError, TemplateRenderError } from './template-error.ts';
import type { TemplateFunction, TemplateParameter } from './template-function.ts';
import type { TemplateValue } from './value.ts';
import { GoFloat, entriesOf, isTrue, toValue, typeName } from './value.ts';

export interface CompilerContext {
  readonly source: string;
  readonly name: string;
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  /** The fields of the data, where they are known beforehand. */
  readonly fields: ReadonlySet<string> | undefined;
  /** What the data is called in messages. */
  readonly typeName: string | undefined;
}

type Outcome = 'break' | 'continue' | undefined;
export type Run = (state: RenderState, dot: TemplateValue) => Outcome;
type Evaluate = (state: RenderState, dot: TemplateValue) => TemplateValue;
type Command = (state: RenderState, dot: TemplateValue, piped: TemplateValue | undefined) => TemplateValue;

/** Something with a place in the source, for messages. */
interface Place {
  readonly offset: number;
  readonly end: number;
  /** The offset that messages give, where it is not the first one. */
  readonly position?: number;
}

/** Turns a parsed template into functions. Throws `TemplateRenderError` for what would fail with any data. */
export class Compiler {
  readonly #context: CompilerContext;

  constructor(context: CompilerContext) {
    this.#context = context;
  }

  /** `atRoot` tells whether the dot is the data given. */
  list(nodes: readonly Node[], atRoot: boolean): Run {
    const runs = nodes.map((node) => this.#node(node, atRoot));
    return (state, dot) => {
      for (const run of runs) {
        const outcome = run(state, dot);
        if (outcome !== undefined) return outcome;
      }
      return undefined;
    };
  }

  #node(node: Node, atRoot: boolean): Run {
    switch (node.kind) {
      case 'text':
        return (state) => {
          state.write(node.text);
          return undefined;
        };
      case 'action': {
        const pipe = this.#pipe(node.pipe, atRoot);
        const silent = node.pipe.slots.length > 0;
        return (state, dot) => {
          const value = pipe(state, dot);
          if (!silent) state.write(value === null ? '<no value>' : goText(value));
          return undefined;
        };
      }
      case 'if':
      case 'with': {
        const pipe = this.#pipe(node.pipe, atRoot);
        const then = this.list(node.then, node.kind === 'if' && atRoot);
        const otherwise = this.list(node.otherwise, atRoot);
        const moves = node.kind === 'with';
        return (state, dot) => {
          const value = pipe(state, dot);
          return isTrue(value) ? then(state, moves ? value : dot) : otherwise(state, dot);
        };
      }
      case 'range':
        return this.#range(node, atRoot);
      default:
        return () => node.kind;
    }
  }

  #range(node: RangeNode, atRoot: boolean): Run {
    const pipe = this.#pipe({ ...node.pipe, slots: [] }, atRoot);
    const then = this.list(node.then, false);
    const otherwise = this.list(node.otherwise, atRoot);
    const { slots } = node.pipe;
    const valueSlot = slots[slots.length - 1];
    const keySlot = slots.length > 1 ? slots[0] : undefined;
    return (state, dot) => {
      let empty = true;
      for (const [key, value] of this.#rounds(pipe(state, dot), node.pipe)) {
        empty = false;
        state.round();
        if (valueSlot !== undefined) state.variables[valueSlot] = value;
        if (keySlot !== undefined) state.variables[keySlot] = key;
        if (then(state, value) === 'break') break;
      }
      return empty ? otherwise(state, dot) : undefined;
    };
  }

  *#rounds(value: TemplateValue, place: Place): Iterable<readonly [TemplateValue, TemplateValue]> {
    if (value === null) return;
    if (typeof value === 'number') {
      for (let index = 0; index < value; index += 1) yield [index, index];
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield [index, toValue(item)];
    } else {
      yield* (
        entriesOf(value) ?? this.#fail(place, `range can't iterate over ${typeof value === 'boolean' ? String(value) : typeName(value)}`)
      );
    }
  }

  #pipe(node: PipeNode, atRoot: boolean): Evaluate {
    const commands = node.commands.map((command, index) => this.#command(command, atRoot, index > 0));
    const [slot] = node.slots;
    return (state, dot) => {
      let value: TemplateValue | undefined;
      for (const command of commands) value = command(state, dot, value);
      const result = value ?? null;
      if (slot !== undefined) state.variables[slot] = result;
      return result;
    };
  }

  #command(node: CommandNode, atRoot: boolean, piped: boolean): Command {
    const [first, ...rest] = node.operands;
    if (first.kind === 'function') return this.#call(first.name, rest, node, atRoot, piped);
    if (rest.length > 0 || piped) {
      const method = first.kind === 'field' || first.kind === 'chain' || (first.kind === 'variable' && first.names.length > 0);
      const name = method ? first.names[first.names.length - 1] : undefined;
      this.#fail(
        first,
        name === undefined
          ? `can't give argument to non-function ${this.#text(first)}`
          : `${name} has arguments but cannot be invoked as function`,
      );
    }
    if (first.kind === 'nil') this.#fail(first, 'nil is not a command');
    return this.#operand(first, atRoot);
  }

  #operand(node: Operand, atRoot: boolean): Evaluate {
    switch (node.kind) {
      case 'dot':
        return (_state, dot) => dot;
      case 'nil':
        return () => null;
      case 'string':
      case 'bool':
        return () => node.value;
      case 'number': {
        const value = node.float ? new GoFloat(node.value) : node.value;
        return () => value;
      }
      case 'field':
        if (atRoot) this.#checkField(node.names[0], node);
        return this.#fields((_state, dot) => dot, node.names, node);
      case 'variable':
        if (node.slot === 0) this.#checkField(node.names[0], node);
        return this.#fields((state) => state.variables[node.slot] ?? null, node.names, node);
      case 'chain':
        if (node.of.kind === 'nil') this.#fail(node, 'indirection through explicit nil in chain');
        return this.#fields(this.#operand(node.of, atRoot), node.names, node);
      case 'function': {
        const call = this.#call(node.name, [], node, atRoot, false);
        return (state, dot) => call(state, dot, undefined);
      }
      case 'pipe':
        return this.#pipe(node, atRoot);
    }
  }

  #checkField(name: string | undefined, place: Place): void {
    const { fields } = this.#context;
    if (name !== undefined && fields !== undefined && !fields.has(name)) this.#fail(place, this.#noField(name, this.#context.typeName));
  }

  #noField(name: string, type: string | undefined): string {
    return `can't evaluate field ${name}${type === undefined ? '' : ` in type ${type}`}`;
  }

  #fields(from: Evaluate, names: readonly string[], place: Place): Evaluate {
    if (names.length === 0) return from;
    return (state, dot) => {
      let value = from(state, dot);
      for (const name of names) value = this.#field(value, name, value === state.variables[0], place);
      return value;
    };
  }

  /** A field of an object must exist; a key of a `Map` need not. */
  #field(value: TemplateValue, name: string, root: boolean, place: Place): TemplateValue {
    if (value === null) this.#fail(place, `nil pointer evaluating interface {}.${name}`);
    if (value instanceof Map) return toValue((value as ReadonlyMap<string, unknown>).get(name));
    if (typeof value !== 'object' || value instanceof GoFloat || Array.isArray(value)) {
      this.#fail(place, this.#noField(name, typeName(value)));
    }
    if (Object.hasOwn(value, name)) return toValue((value as Readonly<Record<string, unknown>>)[name]);
    return this.#fail(place, this.#noField(name, root ? this.#context.typeName : undefined));
  }

  #call(name: string, operands: readonly Operand[], place: Place, atRoot: boolean, piped: boolean): Command {
    const called = this.#context.functions.get(name);
    if (called === undefined) return this.#fail(place, `function ${JSON.stringify(name)} not defined`);
    const { parameters, rest } = called;
    const count = operands.length + (piped ? 1 : 0);
    if (count < parameters.length || (rest === undefined && count > parameters.length)) {
      const want = rest === undefined ? `${parameters.length}` : `at least ${parameters.length}`;
      const called = { offset: place.offset, end: place.offset + name.length };
      this.#fail(called, `wrong number of args for ${name}: want ${want} got ${count}`);
    }
    const kindAt = (index: number): TemplateParameter => parameters[index] ?? rest ?? 'any';
    const args = operands.map((operand, index) => this.#argument(operand, kindAt(index), atRoot));
    if (name === 'and' || name === 'or') return shortCircuit(args, name === 'or');
    const lastKind = kindAt(count - 1);
    return (state, dot, last) => {
      const values = args.map((arg) => arg(state, dot));
      if (piped) values.push(this.#checked(last ?? null, lastKind, place));
      try {
        const result = called.call(values, state);
        if (typeof result === 'string') state.spend(result.length);
        return result;
      } catch (error) {
        if (!(error instanceof TemplateFunctionError)) throw error;
        return this.#fail(place, `error calling ${name}: ${error.message}`);
      }
    };
  }

  #argument(node: Operand, kind: TemplateParameter, atRoot: boolean): Evaluate {
    const wanted = kind === 'int' ? 'integer' : kind;
    if (kind !== 'any') {
      if (node.kind === 'nil') this.#fail(node, `cannot assign nil to ${kind}`);
      if (kind === 'int' && node.kind === 'number' && Number.isSafeInteger(node.value)) return () => node.value;
      const matches = node.kind === 'string' ? kind === 'string' : node.kind !== 'number' && node.kind !== 'bool';
      if (!matches) this.#fail(node, `expected ${wanted}; found ${this.#text(node)}`);
    }
    const evaluate = this.#operand(node, atRoot);
    return kind === 'any' ? evaluate : (state, dot) => this.#checked(evaluate(state, dot), kind, node);
  }

  #checked(value: TemplateValue, kind: TemplateParameter, place: Place): TemplateValue {
    if (kind === 'any' || typeof value === (kind === 'int' ? 'number' : 'string')) return value;
    if (value === null) this.#fail(place, `invalid value; expected ${kind}`);
    return this.#fail(place, `wrong type for value; expected ${kind}; got ${typeName(value)}`);
  }

  #text(place: Place): string {
    return this.#context.source.slice(place.offset, place.end).replaceAll(/\s+/g, ' ');
  }

  #fail(place: Place, reason: string): never {
    const { source, name } = this.#context;
    const before = source.slice(0, place.position ?? place.offset);
    const line = before.split('\n').length;
    const column = Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1));
    const text = this.#text(place);
    throw new TemplateRenderError(`template: ${name}:${line}:${column}: executing ${JSON.stringify(name)} at <${text}>: ${reason}`, reason);
  }
}

/** `and` stops at the first empty value, `or` at the first other one; the rest is not evaluated. */
function shortCircuit(args: readonly Evaluate[], stopsAt: boolean): Command {
  return (state, dot, last) => {
    let value: TemplateValue = null;
    for (const arg of args) {
      value = arg(state, dot);
      if (isTrue(value) === stopsAt) return value;
    }
    return last === undefined ? value : last;
  };
}
