import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsPlugin from 'ajv-formats';
import { matchPath } from './http-server.ts';

/** What a provider publishes about its HTTP interface: every call with the schemas of what goes in and what comes out. */
export interface ProviderDescription {
  /** By method and path: `PUT /orgs/{org}/actions/secrets/{secret_name}`. */
  readonly operations: Readonly<Record<string, DescribedOperation>>;
  /** What `#/schemas/NAME` in the others refers to. */
  readonly schemas: Readonly<Record<string, object>>;
}

export interface DescribedOperation {
  readonly path: Readonly<Record<string, object>>;
  readonly query: Readonly<Record<string, object>>;
  readonly body?: object;
  readonly bodyRequired?: boolean;
  /** By status. `null`: an answer without a body. */
  readonly responses: Readonly<Record<string, object | null>>;
}

/** A call that the description knows, with the values in its path. */
export interface Described {
  readonly line: string;
  readonly values: Readonly<Record<string, string>>;
}

const addFormats = addFormatsPlugin as unknown as (ajv: Ajv) => void;

/** Holds requests and answers against a description. */
export class DescriptionCheck {
  readonly #description: ProviderDescription;
  readonly #ajv: Ajv;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(description: ProviderDescription) {
    this.#description = description;
    this.#ajv = new Ajv({ strict: false, allErrors: false, coerceTypes: false });
    addFormats(this.#ajv);
    this.#ajv.addSchema({ $id: 'description', schemas: description.schemas });
  }

  /** The call behind a method and a path; undefined where the provider has none. Literal parts win over values. */
  find(method: string, path: string): Described | undefined {
    const found = Object.keys(this.#description.operations).flatMap((line) => {
      const [wanted, pattern] = line.split(' ') as [string, string];
      const values = wanted === method ? matchPath(pattern, path) : undefined;
      return values === undefined ? [] : [{ line, values }];
    });
    return found.sort((a, b) => Object.keys(a.values).length - Object.keys(b.values).length)[0];
  }

  /** What is wrong with a request's path, query or body; undefined if nothing is. */
  requestFault(call: Described, query: URLSearchParams, body: unknown): string | undefined {
    const operation = this.#operation(call.line);
    for (const [name, text] of [...Object.entries(call.values), ...query]) {
      const schema = operation.path[name] ?? operation.query[name];
      if (schema === undefined) return `the parameter "${name}" is not known`;
      const fault = this.#fault(`${call.line} ${name}`, schema, typed(schema, text));
      if (fault !== undefined) return `"${name}" ${fault}`;
    }
    if (body === undefined) return operation.bodyRequired === true ? 'the body is missing' : undefined;
    if (operation.body === undefined) return 'no body is expected';
    return this.#fault(`${call.line} body`, operation.body, body);
  }

  /** What is wrong with an answer; undefined if nothing is. Statuses of 400 and more that are not described may hold anything. */
  answerFault(call: Described, status: number, body: unknown): string | undefined {
    const schema = this.#operation(call.line).responses[String(status)];
    if (schema === undefined) return status >= 400 ? undefined : `the status ${status} is not described`;
    if (schema === null) return body === undefined ? undefined : 'no body is described';
    return this.#fault(`${call.line} ${status}`, schema, body);
  }

  #operation(line: string): DescribedOperation {
    return this.#description.operations[line]!;
  }

  #fault(key: string, schema: object, value: unknown): string | undefined {
    const validate = this.#compiled.get(key) ?? this.#ajv.compile(withAbsoluteRefs(schema) as object);
    this.#compiled.set(key, validate);
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath ?? ''} ${error?.message ?? 'does not fit'}`.trim();
  }
}

function withAbsoluteRefs(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withAbsoluteRefs);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `description${value}` : withAbsoluteRefs(value),
    ]),
  );
}

/** Parameters are text on the wire; a number is meant where the schema wants one. */
function typed(schema: object, text: string): unknown {
  return 'type' in schema && schema.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}
