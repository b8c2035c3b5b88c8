import { parseDuration } from '@strongroom/engine-sdk';
import { ConfigurationInvalid } from './errors.ts';

/** Seconds of a setting that is a duration. `name`: the setting; `example`: a value for the message; `least`: what it must not be below. Throws ConfigurationInvalid. */
export function durationSetting(name: string, value: string | number, example: string, least = -Infinity): number {
  try {
    const seconds = parseDuration(value);
    if (seconds >= least) return seconds;
  } catch {
    // Said below.
  }
  throw new ConfigurationInvalid(`${name} must be a duration, such as "${example}"`);
}
