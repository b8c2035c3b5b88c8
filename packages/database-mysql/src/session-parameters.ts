import { ConfigurationInvalid, durationSetting } from '@strongroom/database-sdk';
import type { ConnectionOptions } from 'mysql2';

const CONNECT_TIMEOUT = '10s';

/** Parameters of Go's driver that steer that driver, and mean nothing here. */
const IGNORED = new Set(
  'tls charset collation loc parseTime timeTruncate maxAllowedPacket readTimeout writeTimeout checkConnLiveness clientFoundRows columnsWithAlias interpolateParams allowFallbackToPlaintext allowNativePasswords allowOldPasswords rejectReadOnly serverPubKey'.split(
    ' ',
  ),
);

const KNOWN = new Set(['compress', 'allowCleartextPasswords', 'multiStatements', 'timeout', 'connectionAttributes', 'allowAllFiles']);

/** What the parameters of a connection string ask of the driver. Those that it does not know are variables of the session, as Go's driver has it. */
export function sessionParameters(parameters: ReadonlyMap<string, string>): { options: ConnectionOptions; setup: readonly string[] } {
  const flag = (name: string): boolean => /^(?:1|t|true)$/i.test(parameters.get(name) ?? '');
  if (flag('allowAllFiles')) throw new ConfigurationInvalid('allowAllFiles would let the server read files of this machine');
  const timeout = durationSetting('timeout in connection_url', parameters.get('timeout') ?? CONNECT_TIMEOUT, '10s');
  return {
    options: {
      compress: flag('compress'),
      enableCleartextPlugin: flag('allowCleartextPasswords'),
      multipleStatements: flag('multiStatements'),
      connectTimeout: Math.max(1, timeout * 1000),
      connectAttributes: { program_name: 'strongroom', ...attributesOf(parameters.get('connectionAttributes') ?? '') },
    },
    setup: [...parameters].filter(([name]) => !KNOWN.has(name) && !IGNORED.has(name)).map(([name, value]) => variable(name, value)),
  };
}

/** A value is a number, a word, or text in quotes. */
function variable(name: string, value: string): string {
  if (!/^[a-z_][a-z0-9_]*$/i.test(name)) throw new ConfigurationInvalid(`connection_url holds an unknown parameter`);
  if (!/^(?:-?\d+(?:\.\d+)?|[a-z_][\w-]*|'(?:''|[^'\\])*'|"(?:""|[^"\\])*")$/i.test(value))
    throw new ConfigurationInvalid(`the value of ${name} in connection_url must be a number, a word, or text in quotes`);
  return `SET SESSION ${name} = ${value}`;
}

/** `key:value,key:value` */
function attributesOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split(':', 1)[0]!, pair.slice(pair.indexOf(':') + 1)]));
}
