import { Ajv } from 'ajv';
import type { Static, TSchema } from 'typebox';

/** What is wrong with a value, as a phrase that follows its name (`must be >= 1`); undefined if it is valid. */
export type SchemaCheck = (value: unknown) => string | undefined;

let shared: Ajv | undefined;

function ajv(): Ajv {
  if (!shared) {
    // The engine optimizes the code of a check that is asked often: Ajv's own pass makes no check faster, and takes a third of its compilation.
    const code = { optimize: false };
    shared = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true, code });
    // For documents: texts are not parsed when a record is read.
    for (const format of ['date-time', 'duration']) shared.addFormat(format, true);
    for (const keyword of ['x-field', 'x-answer', 'x-may-be-empty', 'secret']) shared.addKeyword({ keyword });
  }
  return shared;
}

const checks = new WeakMap<object, SchemaCheck>();

/** Compiles on first use and once per schema object: importing an engine compiles nothing. */
export function compileSchema(schema: TSchema): SchemaCheck {
  let check = checks.get(schema);
  if (!check) {
    let compiled: ReturnType<Ajv['compile']> | undefined;
    check = (value) => {
      compiled ??= ajv().compile(schema);
      if (compiled(value)) return undefined;
      return (compiled.errors ?? []).map(complaint).join('; ');
    };
    checks.set(schema, check);
  }
  return check;
}

function complaint(error: { instancePath: string; keyword: string; message?: string; params: Record<string, unknown> }): string {
  const where = error.instancePath === '' ? '' : `at ${error.instancePath} `;
  if (error.keyword === 'enum') return `${where}must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
  return `${where}${error.message ?? 'is not valid'}`;
}

/** Checks a record read from storage, which may have been written by another version. */
export function checkRecord<S extends TSchema>(schema: S, value: unknown, what: string): Static<S> {
  const problem = compileSchema(schema)(value);
  if (problem !== undefined) throw new Error(`${what} is not as this version stores it: ${problem}`);
  return value as Static<S>;
}
