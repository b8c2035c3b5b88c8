import type { Writable } from 'node:stream';
import { ExactNumber } from '@strongroom/engine-sdk/json';
import type { ScalarTag } from 'yaml';
import { Failure } from './failure.ts';
import { table } from './format/columns.ts';
import { goValue } from './format/go-value.ts';
import { dataRows, secretField, secretTable } from './format/secret-table.ts';
import type { GlobalOptions } from './global-flags.ts';
import type { CliIo } from './cli-io.ts';
import type { JsonRecord } from './json.ts';
import { isRecord, printJson } from './json.ts';
import type { Secret } from './secret.ts';

export type Format = 'table' | 'json' | 'yaml' | 'raw';

/** Numbers of which JavaScript would lose digits. */
const exactNumbers: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  resolve: (text) => new ExactNumber(text),
  stringify: ({ value }) => String(value),
};

function isTerminal(stream: Writable): boolean {
  return (stream as Writable & { isTTY?: boolean }).isTTY === true;
}

/** Everything a command says. Answers go to standard output, failures and warnings to standard error. */
export class Output {
  readonly format: Format;
  readonly field: string | undefined;
  readonly #io: CliIo;
  readonly #color: boolean;

  constructor(io: CliIo, options: Pick<GlobalOptions, 'field' | 'no-color'>, format: Format) {
    this.#io = io;
    this.format = format;
    this.field = options.field;
    this.#color = isTerminal(io.stderr) && !options['no-color'] && (io.env['NO_COLOR'] ?? '') === '';
  }

  /** Whether tables are wanted, and no single field of them. */
  get plain(): boolean {
    return this.format === 'table' && this.field === undefined;
  }

  line(text: string): void {
    this.#io.stdout.write(`${text}\n`);
  }

  /** `Success! …`, left out where a program reads the output. */
  success(text: string): void {
    if (this.format === 'table' || this.format === 'raw') this.line(`Success! ${text}`);
  }

  warn(text: string): void {
    this.#io.stderr.write(`${this.#color ? `\u001b[33m${text}\u001b[0m` : text}\n`);
  }

  error(text: string): void {
    this.#io.stderr.write(`${this.#color ? `\u001b[31m${text}\u001b[0m` : text}\n`);
  }

  /** A value without decoration; a newline follows only when a person reads it. */
  async rawField(value: unknown): Promise<void> {
    const text = this.format === 'json' || this.format === 'yaml' ? await this.#document(value) : goValue(value);
    this.#io.stdout.write(isTerminal(this.#io.stdout) ? `${text}\n` : text);
  }

  /** Any value as JSON or YAML. */
  async document(value: unknown): Promise<void> {
    this.line(await this.#document(value));
  }

  async #document(value: unknown): Promise<string> {
    if (this.format !== 'yaml') return printJson(value);
    const { stringify } = await import('yaml');
    return stringify(value, { customTags: [exactNumbers] }).replace(/\n$/, '');
  }

  /** The named field of a record, or a failure that says it is not there. */
  async pick(data: JsonRecord, name: string): Promise<void> {
    if (!Object.hasOwn(data, name)) throw new Failure(`Field "${name}" not present in the answer`);
    await this.rawField(data[name]);
  }

  /** A Key/Value table in alphabetical order, a document, or one field of it. */
  async record(data: JsonRecord): Promise<void> {
    if (this.field !== undefined) return this.pick(data, this.field);
    if (this.format !== 'table') return this.document(data);
    this.line(table(['Key', 'Value'], dataRows(data)));
  }

  /** Rows in the order given as a table; the same facts, by their own names, as a document. */
  async rows(header: readonly string[], rows: readonly (readonly string[])[], document: unknown): Promise<void> {
    if (this.field !== undefined) return this.pick(isRecord(document) ? document : {}, this.field);
    if (this.format !== 'table') return this.document(document);
    this.line(table(header, rows));
  }

  /** The names in a list answer, one a line under `Keys`. */
  async keys(secret: Secret): Promise<void> {
    if (this.field !== undefined || this.format === 'raw') return this.secret(secret);
    const keys = secret.data?.['keys'];
    const names = Array.isArray(keys) ? keys.map(String) : [];
    this.warnings(secret);
    if (this.format !== 'table') return this.document(names);
    this.line(
      table(
        ['Keys'],
        names.map((name) => [name]),
      ),
    );
  }

  warnings(secret: Secret): void {
    if (secret.warnings.length === 0 || this.format !== 'table') return;
    this.warn('WARNING! The following warnings were returned from the server:\n');
    for (const warning of secret.warnings) this.warn(`  * ${warning}\n`);
  }

  /** An envelope: its table, the whole of it as a document, its text as it came, or one field. */
  async secret(secret: Secret): Promise<void> {
    if (this.field !== undefined) {
      const value = secretField(secret, this.field);
      if (value === undefined) throw new Failure(`Field "${this.field}" not present in secret`);
      return this.rawField(value);
    }
    if (this.format === 'raw') return this.line(secret.text.replace(/\n$/, ''));
    if (this.format !== 'table') return this.document(secret.envelope);
    this.warnings(secret);
    this.line(secretTable(secret));
  }
}
