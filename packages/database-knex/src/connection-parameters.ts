import { ConfigurationInvalid } from '@strongroom/database-sdk';

type Parameters = ReadonlyMap<string, string>;

const TRUE = ['true', 'yes', '1', 't', 'mandatory'];
const FALSE = ['false', 'no', '0', 'f', 'optional'];

/** What a word means that says yes or no; undefined for others. */
export function booleanWord(word: string | undefined): boolean | undefined {
  const text = word?.toLowerCase() ?? '';
  return TRUE.includes(text) ? true : FALSE.includes(text) ? false : undefined;
}

/** A parameter of a connection string that says yes or no; undefined where it is absent. Throws ConfigurationInvalid. */
export function flagParameter(parameters: Parameters, name: string): boolean | undefined {
  const text = parameters.get(name);
  const value = booleanWord(text);
  if (text !== undefined && value === undefined) throw new ConfigurationInvalid(`${name} in connection_url must be true or false`);
  return value;
}

/** A parameter of a connection string that is a number; undefined where it is absent. Throws ConfigurationInvalid. */
export function numberParameter(parameters: Parameters, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new ConfigurationInvalid(`${name} in connection_url must be a whole number`);
}
