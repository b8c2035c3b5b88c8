import { closest } from '@strongroom/engine-sdk';

/** The words after `strongroom server`. */
export interface ServerArguments {
  readonly config: readonly string[];
  readonly dev: boolean;
  readonly devRootToken?: string;
  readonly devListenAddress?: string;
  readonly logLevel?: string;
}

export class ArgumentsInvalid extends Error {
  override readonly name = 'ArgumentsInvalid';
}

const VALUES = ['config', 'dev-root-token-id', 'dev-listen-address', 'log-level'];
const KNOWN = [...VALUES, 'dev'];

/** Reads `-name=value`, `-name value` and `-dev`, with one dash or two. @throws ArgumentsInvalid naming all that is wrong */
export function readArguments(argv: readonly string[]): ServerArguments {
  const complaints: string[] = [];
  const values = new Map<string, string[]>();
  let dev = false;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index]!;
    const match = /^--?([a-z][a-z-]*)(?:=(.*))?$/s.exec(word);
    const name = match?.[1] ?? '';
    let value = match?.[2];
    if (!match) complaints.push(`unexpected argument ${JSON.stringify(word)}`);
    else if (name === 'dev') {
      if (value !== undefined && value !== 'true' && value !== 'false') complaints.push('-dev takes no value');
      dev = value !== 'false';
    } else if (VALUES.includes(name)) {
      if (value === undefined) value = argv[(index += 1)];
      if (value === undefined || value === '') complaints.push(`-${name} needs a value`);
      else values.set(name, [...(values.get(name) ?? []), value]);
    } else complaints.push(`unknown flag -${name}${suggestion(name)}`);
  }
  const devRootToken = values.get('dev-root-token-id')?.at(-1);
  const devListenAddress = values.get('dev-listen-address')?.at(-1);
  const logLevel = values.get('log-level')?.at(-1);
  for (const name of ['dev-root-token-id', 'dev-listen-address']) {
    if (values.has(name) && !dev) complaints.push(`-${name} is for development: add -dev`);
  }
  if (devRootToken !== undefined && !/^[\x21-\x7e]+$/.test(devRootToken))
    complaints.push('-dev-root-token-id must be printable ASCII without blanks');
  if (complaints.length > 0) throw new ArgumentsInvalid(complaints.join('\n'));
  return {
    config: values.get('config') ?? [],
    dev,
    ...(devRootToken === undefined ? {} : { devRootToken }),
    ...(devListenAddress === undefined ? {} : { devListenAddress }),
    ...(logLevel === undefined ? {} : { logLevel }),
  };
}

function suggestion(name: string): string {
  const near = closest(name, KNOWN);
  return near === undefined ? '' : `; did you mean -${near}?`;
}
