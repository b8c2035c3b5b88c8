import { parseDuration } from '@strongroom/engine-sdk';
import { ConfigurationInvalid } from '@strongroom/database-sdk';

export interface SessionParameters {
  /** Statements that follow the login. */
  readonly setup: readonly string[];
  readonly compress: boolean;
  readonly cleartext: boolean;
  readonly multiple: boolean;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Parameters of Go's driver that steer that driver, and mean nothing here. */
const IGNORED = new Set(
  'tls charset collation loc parseTime timeTruncate maxAllowedPacket readTimeout writeTimeout checkConnLiveness clientFoundRows columnsWithAlias interpolateParams allowFallbackToPlaintext allowNativePasswords allowOldPasswords rejectReadOnly serverPubKey'.split(
    ' ',
  ),
);

/** What the parameters of a connection string ask for. Those that the driver does not know are variables of the session, as Go's driver has it. */
export function sessionParameters(parameters: ReadonlyMap<string, string>): SessionParameters {
  const flag = (name: string): boolean => /^(?:1|t|true)$/i.test(parameters.get(name) ?? '');
  if (flag('allowAllFiles')) throw new ConfigurationInvalid('allowAllFiles would let the server read files of this machine');
  const known = new Set(['compress', 'allowCleartextPasswords', 'multiStatements', 'timeout', 'connectionAttributes', 'allowAllFiles']);
  return {
    setup: [...parameters].filter(([name]) => !known.has(name) && !IGNORED.has(name)).map(([name, value]) => variable(name, value)),
    compress: flag('compress'),
    cleartext: flag('allowCleartextPasswords'),
    multiple: flag('multiStatements'),
    timeout: timeoutOf(parameters.get('timeout')),
    attributes: attributesOf(parameters.get('connectionAttributes') ?? ''),
  };
}

/** A value is a number, a word, or text in quotes. */
function variable(name: string, value: string): string {
  if (!/^[a-z_][a-z0-9_]*$/i.test(name)) throw new ConfigurationInvalid(`connection_url holds an unknown parameter`);
  if (!/^(?:-?\d+(?:\.\d+)?|[a-z_][\w-]*|'(?:''|[^'\\])*'|"(?:""|[^"\\])*")$/i.test(value))
    throw new ConfigurationInvalid(`the value of ${name} in connection_url must be a number, a word, or text in quotes`);
  return `SET SESSION ${name} = ${value}`;
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return Math.max(1, parseDuration(text) * 1000);
  } catch {
    throw new ConfigurationInvalid('timeout in connection_url must be a duration, such as "10s"');
  }
}

/** `key:value,key:value` */
function attributesOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split(':', 1)[0]!, pair.slice(pair.indexOf(':') + 1)]));
}
