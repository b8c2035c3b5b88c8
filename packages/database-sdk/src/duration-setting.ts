import { parseDuration } from '@strongroom/engine-sdk';
import { ConfigurationInvalid } from './errors.ts';

/** Seconds of a setting that is a duration. `name`: the setting; `example`: a value for the message. Throws ConfigurationInvalid. */
export function durationSetting(name: string, value: string | number, example: string): number {
  try {
    return parseDuration(value);
  } catch {
    throw new ConfigurationInvalid(`${name} must be a duration, such as "${example}"`);
  }
}
